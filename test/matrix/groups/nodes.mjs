/** Every supported Node with every supported pino, as ES module, CommonJS and TypeScript, in every mode. */
import { dirname, join } from 'node:path'

const NODES = ['20', '22', '24', '26']
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
  ['TypeScript', 'compiled', 'js'],
])

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  async *cells(kit) {
    for (const pino of PINOS) {
      const folder = kit.folder(`nodes-pino-${pino}`, { type: 'module' })
      kit.copyApp('modes', folder)
      kit.install(folder, [kit.tarball, `pino@${pino}`, 'typescript@5.9', '@types/node@20'])
      kit.exec([process.execPath, join(folder, 'node_modules/typescript/bin/tsc'), '-p', folder], { cwd: folder })
      for (const version of NODES) {
        const node = kit.node(version)
        const row = `Node ${kit.exec([node, '--version'], { cwd: folder }).trim().slice(1)} · pino ${kit.versionIn(folder, 'pino')}`
        const env = { PATH: `${dirname(node)}:${process.env['PATH']}` }
        for (const [column, name] of MODES)
          for (const [kind, under, suffix] of KINDS) {
            const app = `${under}/${name}.${suffix}`
            const command =
              name === 'pipe' ? ['sh', '-c', `node ${app} | npx --no-install pino-ingest --quiet`] : [node, app]
            // npx warns about user settings that a newer npm does not support.
            yield { table: 'runtimes', row, column, kind, command, cwd: folder, env, allowedStderr: /^npm warn .*$/gm }
          }
      }
    }
  },
}
