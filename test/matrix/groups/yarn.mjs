/** Yarn: Plug'n'Play, which reads packages from archives without `node_modules`, its other linker, and Yarn 1. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Column, kind, file in `apps/modes`. */
const APPS = /** @type {const} */ ([
  ['worker thread', 'ESM', 'esm/target.mjs'],
  ['worker thread', 'CJS', 'cjs/target.cjs'],
  ['in-process', 'ESM', 'esm/stream.mjs'],
  ['in-process', 'CJS', 'cjs/stream.cjs'],
])
const SEVERAL = /** @type {const} */ ([
  ['worker thread', 'ESM `targets`', 'esm/targets.mjs'],
  ['worker thread', 'CJS `targets`', 'cjs/targets.cjs'],
  ['worker thread', 'ESM `pipeline`', 'esm/pipeline.mjs'],
  ['worker thread', 'CJS `pipeline`', 'cjs/pipeline.cjs'],
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
      kit.copyApp('modes', folder)
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
    for (const [column, kind, file] of [...APPS, ...SEVERAL]) {
      yield {
        table: 'tools',
        row: `${name}, Plug'n'Play`,
        column,
        kind,
        takes: '`yarn node app.mjs`',
        command: [...yarn, 'node', file],
        cwd: pnp,
      }
    }

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
    for (const [column, kind, file] of APPS) {
      yield {
        table: 'tools',
        row: `${name}, \`node_modules\``,
        column,
        kind,
        command: [process.execPath, file],
        cwd: flat,
      }
    }

    const old = kit.folder('yarn-classic-itself')
    kit.install(old, ['yarn@1'])
    const classic = kit.folder('yarn-classic')
    kit.copyApp('modes', classic)
    const settings = [
      '--ignore-scripts',
      '--non-interactive',
      '--registry',
      registry,
      '--cache-folder',
      join(kit.scratch, 'yarn-classic-cache'),
    ]
    kit.exec(
      [
        process.execPath,
        join(old, 'node_modules/yarn/bin/yarn.js'),
        'add',
        ...settings,
        `file:${kit.tarball}`,
        ...PACKAGES,
      ],
      { cwd: classic, env: ONLINE },
    )
    for (const [column, kind, file] of APPS) {
      yield {
        table: 'tools',
        row: `Yarn ${kit.versionIn(old, 'yarn')}`,
        column,
        kind,
        command: [process.execPath, file],
        cwd: classic,
      }
    }
  },
}
