/** Yarn: Plug'n'Play, which reads packages from archives without `node_modules`, its other linker, and Yarn 1. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeModes } from '../kit/modes.mjs'

/** Column, kind, file of `writeModes()`. */
const APPS = /** @type {const} */ ([
  ['worker thread', 'ESM', 'target.mjs'],
  ['worker thread', 'CJS', 'target.cjs'],
  ['in-process', 'ESM', 'stream.mjs'],
  ['in-process', 'CJS', 'stream.cjs'],
])
const SEVERAL = /** @type {const} */ ([
  ['worker thread', 'ESM `targets`', 'targets.mjs'],
  ['worker thread', 'CJS `targets`', 'targets.cjs'],
  ['worker thread', 'ESM `pipeline`', 'pipeline.mjs'],
  ['worker thread', 'CJS `pipeline`', 'pipeline.cjs'],
])
/**
 * The kit removes the user's certificate authority from the environment; Yarn needs it to reach the registry through
 * a proxy.
 */
const CA = process.env['NODE_EXTRA_CA_CERTS']
const ONLINE = CA === undefined ? {} : { NODE_EXTRA_CA_CERTS: CA }
const PACKAGES = ['pino@10', 'pino-abstract-transport@3']

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const tools = kit.folder('yarn-itself')
    kit.install(tools, ['@yarnpkg/cli-dist@4'])
    const yarn = [process.execPath, join(tools, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js')]
    const name = `Yarn ${kit.versionIn(tools, '@yarnpkg/cli-dist')}`
    const registry = kit.exec(['npm', 'config', 'get', 'registry'], { cwd: tools }).trim()
    const project = (/** @type {string} */ linker) => {
      const folder = kit.folder(`yarn-${linker}`)
      writeModes(folder)
      writeFileSync(join(folder, 'yarn.lock'), '')
      writeFileSync(
        join(folder, '.yarnrc.yml'),
        [
          `nodeLinker: ${linker}`,
          `npmRegistryServer: ${JSON.stringify(registry)}`,
          `globalFolder: ${JSON.stringify(join(kit.scratch, 'yarn-global'))}`,
          'enableTelemetry: false',
          'enableScripts: false',
          '',
        ].join('\n'),
      )
      kit.exec([...yarn, 'add', `pino-ingest@file:${kit.tarball}`, ...PACKAGES], { cwd: folder, env: ONLINE })
      return folder
    }

    const pnp = project('pnp')
    kit.copyApp('yarn', pnp)
    const shared = /** @type {const} */ ({ table: 'tools', row: `${name}, Plug'n'Play`, takes: '`yarn node app.mjs`' })
    for (const [column, kind, file] of [...APPS, ...SEVERAL])
      yield { ...shared, column, kind, command: [...yarn, 'node', file], cwd: pnp }

    // If the application is an ES module, pino starts its worker without the flags of the application.
    const flags = ['--require', './.pnp.cjs', '--experimental-loader', './.pnp.loader.mjs']
    for (const [column, kind, file] of /** @type {const} */ ([
      ...APPS,
      ['worker thread', 'ESM with `execArgv`', 'exec-argv.mjs'],
    ])) {
      const isLost = column === 'worker thread' && kind === 'ESM'
      yield {
        table: 'tools',
        row: `${name}, Plug'n'Play by flags of \`node\``,
        column,
        kind,
        cwd: pnp,
        takes: 'the flags in `NODE_OPTIONS`, or `worker: { execArgv: process.execArgv }`',
        command: [process.execPath, ...flags, file],
        ...(isLost && { refuses: /Cannot find module '.*thread-stream.*worker\.js'/ }),
      }
    }

    const flat = project('node-modules')
    const row = `${name}, \`node_modules\``
    for (const [column, kind, file] of APPS)
      yield { table: 'tools', row, column, kind, command: [process.execPath, file], cwd: flat }

    const old = kit.folder('yarn-classic-itself')
    kit.install(old, ['yarn@1'])
    const classic = kit.folder('yarn-classic')
    writeModes(classic)
    const program = [process.execPath, join(old, 'node_modules/yarn/bin/yarn.js'), 'add']
    const settings = ['--ignore-scripts', '--non-interactive', '--registry', registry]
    const cache = ['--cache-folder', join(kit.scratch, 'yarn-classic-cache')]
    const added = [`file:${kit.tarball}`, ...PACKAGES]
    kit.exec([...program, ...settings, ...cache, ...added], { cwd: classic, env: ONLINE })
    const classicRow = `Yarn ${kit.versionIn(old, 'yarn')}`
    for (const [column, kind, file] of APPS)
      yield { table: 'tools', row: classicRow, column, kind, command: [process.execPath, file], cwd: classic }
  },
}
