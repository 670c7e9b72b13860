/**
 * pnpm's strict layout: a package can load only its own dependencies, and pino resolves a target relative to its
 * caller.
 */
import { join } from 'node:path'
import { writeModes } from '../kit/modes.mjs'

/** Column, kind, file of `writeModes()`. */
const APPS = /** @type {const} */ ([
  ['worker thread', 'ESM', 'target.mjs'],
  ['worker thread', 'CJS', 'target.cjs'],
  ['worker thread', 'ESM `targets`', 'targets.mjs'],
  ['worker thread', 'CJS `targets`', 'targets.cjs'],
  ['worker thread', 'ESM `pipeline`', 'pipeline.mjs'],
  ['worker thread', 'CJS `pipeline`', 'pipeline.cjs'],
  ['in-process', 'ESM', 'stream.mjs'],
  ['in-process', 'CJS', 'stream.cjs'],
])

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const tools = kit.folder('pnpm-itself')
    kit.install(tools, ['pnpm@12'])
    const name = `pnpm ${kit.versionIn(tools, 'pnpm')}`
    const env = { XDG_CACHE_HOME: join(kit.scratch, 'pnpm-cache'), XDG_STATE_HOME: join(kit.scratch, 'pnpm-state') }
    const add = (/** @type {string} */ cwd, /** @type {readonly string[]} */ specifiers) => {
      const flags = ['--ignore-scripts', '--store-dir', join(kit.scratch, 'pnpm-store')]
      kit.exec([join(tools, 'node_modules/.bin/pnpm'), 'add', ...flags, ...specifiers], { cwd, env })
    }

    const single = kit.folder('pnpm-single')
    writeModes(single)
    // The transform of the pipeline belongs to the application, and so do its dependencies.
    add(single, [kit.tarball, 'pino@10', 'pino-abstract-transport@3'])
    const row = `${name}, strict layout`
    for (const [column, kind, file] of APPS)
      yield { table: 'tools', row, column, kind, command: [process.execPath, file], cwd: single }

    const workspace = kit.folder('pnpm-workspace')
    kit.copyApp('pnpm/workspace', workspace)
    const shop = join(workspace, 'packages/shop')
    add(join(workspace, 'packages/logger'), [kit.tarball, 'pino@10'])
    const shared = /** @type {const} */ ({
      table: 'tools',
      row: `${name}, the logger in a workspace package`,
      cwd: shop,
    })
    yield { ...shared, column: 'worker thread', command: [process.execPath, 'worker.js'] }
    yield { ...shared, column: 'in-process', command: [process.execPath, 'in-process.js'] }

    add(shop, ['pino@10'])
    const apart = /** @type {const} */ ({
      table: 'tools',
      cwd: shop,
      row: `${name}, \`pino-ingest\` in a workspace package, \`pino()\` in another`,
      takes: '[`ingestOptions()`, or the path](#pnpm-and-yarn)',
    })
    yield {
      ...apart,
      column: 'worker thread',
      kind: 'by name',
      command: [process.execPath, 'by-name.js'],
      refuses: /unable to determine transport target for "pino-ingest"/,
    }
    yield { ...apart, column: 'worker thread', kind: 'by path', command: [process.execPath, 'by-path.js'] }
    yield { ...apart, column: 'in-process', command: [process.execPath, 'own-pino.js'] }
  },
}
