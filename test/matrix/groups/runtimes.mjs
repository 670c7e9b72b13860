/**
 * Bun and Deno with every supported pino, as ES module, CommonJS and TypeScript (which both run directly), in every
 * mode.
 */
import { symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'

const PINOS = ['9.14', '10']
const MODES = /** @type {const} */ ([
  ['target', 'target'],
  ['targets', 'targets'],
  ['pipeline', 'pipeline'],
  ['in-process', 'stream'],
  ['pipe', 'pipe'],
])
const KINDS = /** @type {const} */ ([
  ['ESM', 'esm', 'mjs'],
  ['CJS', 'cjs', 'cjs'],
  ['TypeScript', 'ts', 'ts'],
])
/** The commands that a user types. The runtime also runs the package's own command. */
const RUNTIMES = /** @type {const} */ ([
  ['Bun', 'bun', 'bun run', 'bunx --bun --no-install pino-ingest --quiet'],
  ['Deno', 'deno', 'deno run -A', 'deno run -A npm:pino-ingest --quiet'],
])
/**
 * The runtime's `fetch` would use this proxy for every address. The service is on loopback, and nothing listens on
 * this port.
 */
const PROXY = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9', NO_PROXY: '', no_proxy: '' }

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  async *cells(kit) {
    const programs = kit.folder('runtimes-programs')
    symlinkSync(kit.bun('latest'), join(programs, 'bun'))
    symlinkSync(kit.bun('latest'), join(programs, 'bunx'))
    symlinkSync(kit.deno('latest'), join(programs, 'deno'))
    const env = {
      PATH: `${programs}${delimiter}${process.env['PATH']}`,
      NO_COLOR: '1',
      DENO_DIR: join(kit.scratch, 'deno'),
      BUN_INSTALL: join(kit.scratch, 'bun'),
    }
    for (const pino of PINOS) {
      const folder = kit.folder(`runtimes-pino-${pino}`, { type: 'module' })
      kit.copyApp('modes', folder)
      kit.copyApp('runtimes', folder)
      kit.install(folder, [kit.tarball, `pino@${pino}`])
      for (const [label, name, run, pipe] of RUNTIMES) {
        const version = /\d+\.\d+\.\d+/.exec(kit.exec([join(programs, name), '--version'], { cwd: folder }))?.[0]
        const row = `${label} ${version} · pino ${kit.versionIn(folder, 'pino')}`
        for (const [column, mode] of MODES)
          for (const [kind, under, suffix] of KINDS) {
            const app = `${run} ${under}/${mode}.${suffix}`
            yield {
              table: 'runtimes',
              row,
              column,
              kind,
              command: ['sh', '-c', mode === 'pipe' ? `${app} | ${pipe}` : app],
              cwd: folder,
              env,
            }
          }
        for (const [column, mode] of MODES.filter(([, file]) => file === 'target' || file === 'stream')) {
          yield {
            table: 'runtimes',
            row,
            column,
            kind: 'ESM beside a proxy',
            command: ['sh', '-c', `${run} esm/${mode}.mjs`],
            cwd: folder,
            env: { ...env, ...PROXY },
          }
        }
      }
    }
  },
}
