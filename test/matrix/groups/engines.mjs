/** An unsupported Node is rejected in every mode with our own message, not with an error about a missing function. */
import { dirname, join } from 'node:path'

const NODES = ['18', '21']
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
])

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('engines', { type: 'module' })
    kit.copyApp('modes', folder)
    kit.copyApp('engines', folder)
    // The last pino version that supports Node 18.
    kit.install(folder, [kit.tarball, 'pino@9.14'])
    for (const version of NODES) {
      const node = kit.node(version)
      const row = `Node ${kit.exec([node, '--version'], { cwd: folder }).trim().slice(1)} · pino ${kit.versionIn(folder, 'pino')}`
      const env = { PATH: `${dirname(node)}:${process.env['PATH']}` }
      for (const [column, name] of MODES)
        for (const [kind, under, suffix] of KINDS) {
          const app = `${under}/${name}.${suffix}`
          // Not with npx: the installed npm may be too new for this Node.
          const command =
            name === 'pipe'
              ? ['sh', '-c', `node ${app} | node ${join('node_modules', '.bin', 'pino-ingest')} --quiet`]
              : [node, app]
          yield { table: 'runtimes', row, column, kind, command, cwd: folder, env, refuses: /pino-ingest needs Node/ }
        }
    }
  },
}
