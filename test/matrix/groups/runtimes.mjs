/**
 * Node, Bun and Deno with every supported pino, as ES module and CommonJS, in every mode. An unsupported Node is rejected with our own
 * message, not with an error about a missing function.
 */
import { symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { writeModes } from '../kit/modes.mjs'

const NODES = ['20', '22', '24', '26']
const UNSUPPORTED_NODES = ['18', '21']
const PINOS = ['9.14', '10']
const MODES = /** @type {const} */ ([
  ['target', 'target'],
  ['targets', 'targets'],
  ['pipeline', 'pipeline'],
  ['in-process', 'stream'],
  ['pipe', 'pipe'],
])
const KINDS = /** @type {const} */ ([
  ['ESM', 'mjs'],
  ['CJS', 'cjs'],
])
/** The commands that a user types. The runtime also runs the package's own command. */
const OTHERS = /** @type {const} */ ([
  ['Bun', 'bun', 'bun run', 'bunx --bun --no-install pino-ingest --quiet'],
  ['Deno', 'deno', 'deno run -A', 'deno run -A npm:pino-ingest --quiet'],
])
/** Not with npx: the installed npm may be too new for this Node. */
const NODE_PIPE = `node ${join('node_modules', '.bin', 'pino-ingest')} --quiet`
/**
 * The runtime's `fetch` would use this proxy for every address. The service is on loopback, and nothing listens on
 * this port.
 */
const PROXY = { HTTP_PROXY: 'http://127.0.0.1:9', http_proxy: 'http://127.0.0.1:9', NO_PROXY: '', no_proxy: '' }

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const programs = kit.folder('runtimes-programs')
    symlinkSync(kit.bun('latest'), join(programs, 'bun'))
    symlinkSync(kit.bun('latest'), join(programs, 'bunx'))
    symlinkSync(kit.deno('latest'), join(programs, 'deno'))
    const toPath = (/** @type {string} */ folder) => `${folder}${delimiter}${process.env['PATH']}`
    const others = {
      PATH: toPath(programs),
      NO_COLOR: '1',
      DENO_DIR: join(kit.scratch, 'deno'),
      BUN_INSTALL: join(kit.scratch, 'bun'),
    }
    for (const pino of PINOS) {
      const folder = kit.folder(`runtimes-pino-${pino}`, { type: 'module' })
      writeModes(folder)
      kit.install(folder, [kit.tarball, `pino@${pino}`])
      const rowOf = (/** @type {string} */ label, /** @type {string} */ program) => {
        const version = /\d+\.\d+\.\d+/.exec(kit.exec([program, '--version'], { cwd: folder }))?.[0]
        return `${label} ${version} · pino ${kit.versionIn(folder, 'pino')}`
      }
      const modes = (/** @type {string} */ run, /** @type {string} */ pipe, /** @type {object} */ cell) =>
        MODES.flatMap(([column, mode]) =>
          KINDS.map(([kind, suffix]) => {
            const app = `${run} ${mode}.${suffix}`
            const command = ['sh', '-c', mode === 'pipe' ? `${app} | ${pipe}` : app]
            return /** @type {any} */ ({ table: 'runtimes', column, kind, command, cwd: folder, ...cell })
          }),
        )
      // The last version of pino that supports Node 18 is 9.14.
      for (const version of [...NODES, ...(pino === '10' ? [] : UNSUPPORTED_NODES)]) {
        const node = kit.node(version)
        const refuses = UNSUPPORTED_NODES.includes(version) && { refuses: /pino-ingest needs Node/ }
        yield* modes('node', NODE_PIPE, { row: rowOf('Node', node), env: { PATH: toPath(dirname(node)) }, ...refuses })
      }
      for (const [label, name, run, pipe] of OTHERS) {
        const row = rowOf(label, join(programs, name))
        yield* modes(run, pipe, { row, env: others })
        for (const cell of modes(run, pipe, { row, env: { ...others, ...PROXY } }))
          if (cell.kind === 'ESM' && ['target', 'in-process'].includes(cell.column))
            yield { ...cell, kind: 'ESM beside a proxy' }
      }
    }
  },
}
