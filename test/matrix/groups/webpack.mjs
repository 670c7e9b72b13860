/**
 * Bundled by webpack 5: everything in the output folder and run without node_modules, with pino as external, with
 * workers in separate files, and with pino-webpack-plugin.
 */
import { join } from 'node:path'
import { box } from '../kit/box.mjs'

const NO_TARGET = /^Error: unable to determine transport target for "pino-ingest"/
const NO_WORKER_FILE = /^Error: Cannot find module '.*worker\.js'/
const KINDS = /** @type {const} */ ([
  ['CJS minified', 'cjs', 'cjs'],
  ['ESM', 'esm', 'mjs'],
])
const BUILD = ['npx', '--no-install', 'webpack']
/**
 * The last version that works with the plugin, which reads internal files that later versions of webpack have moved.
 */
const PLUGINS_WEBPACK = '5.101'

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  async *cells(kit) {
    yield* bundles(kit)
    yield* plugin(kit)
  },
}

/** @param {import('../kit/types.d.mts').Kit} kit @returns {Generator<import('../kit/types.d.mts').Cell>} */
function* bundles(kit) {
  const folder = kit.folder('webpack')
  kit.copyApp('webpack', folder)
  kit.install(folder, [kit.tarball, 'pino@10', 'webpack@5', 'webpack-cli@7'])
  const printed = kit.exec(BUILD, { cwd: folder })
  if (/WARNING in .*pino-ingest/.test(printed)) throw new Error(`webpack warns about the bundle:\n${printed}`)
  const built = (/** @type {string} */ name) => join(folder, 'dist', name)
  const hook = join(folder, 'before-send.mjs')
  const row = (/** @type {string} */ how) => `webpack ${kit.versionIn(folder, 'webpack')}, ${how}`

  for (const [kind, name, suffix] of KINDS) {
    const cwd = box(kit, `webpack-${name}`, [built(`all-${name}`), hook])
    const cell = { table: /** @type {const} */ ('tools'), row: row('all bundled'), kind, cwd }
    yield { ...cell, column: 'in-process', command: ['node', `stream.${suffix}`], takes: '`ingestStream()`' }
    yield { ...cell, column: 'worker thread', command: ['node', `target.${suffix}`], refuses: NO_TARGET }
    yield {
      ...cell,
      column: 'worker thread',
      kind: `${kind}, ingestOptions`,
      command: ['node', `options.${suffix}`],
      refuses: NO_TARGET,
    }
  }
  for (const [kind, name, suffix] of KINDS) {
    const cell = {
      table: /** @type {const} */ ('tools'),
      row: row('all bundled, beside `node_modules`'),
      kind,
      cwd: folder,
      takes: '`ingestStream()`',
    }
    yield { ...cell, column: 'in-process', command: ['node', `dist/all-${name}/stream.${suffix}`] }
    yield {
      ...cell,
      column: 'worker thread',
      command: ['node', `dist/all-${name}/target.${suffix}`],
      refuses: NO_WORKER_FILE,
    }
  }
  for (const [kind, name, suffix] of KINDS) {
    const cell = {
      table: /** @type {const} */ ('tools'),
      row: row('packages external'),
      kind: kind.slice(0, 3),
      cwd: folder,
      takes: "`externals: ['pino', 'pino-ingest']`, and `externalsType`",
    }
    yield { ...cell, column: 'in-process', command: ['node', `dist/external-${name}/stream.${suffix}`] }
    yield { ...cell, column: 'worker thread', command: ['node', `dist/external-${name}/target.${suffix}`] }
  }
  const cwd = box(kit, 'webpack-workers', [built('workers-cjs'), built('all-cjs'), hook])
  const cell = {
    table: /** @type {const} */ ('tools'),
    row: row('workers as separate files'),
    kind: 'CJS',
    cwd,
    takes: "pino's [`__bundlerPathsOverrides`](https://getpino.io/#/docs/bundling)",
  }
  yield { ...cell, column: 'in-process', command: ['node', 'stream.cjs'] }
  yield { ...cell, column: 'worker thread', command: ['node', 'app.js'] }
}

/** @param {import('../kit/types.d.mts').Kit} kit @returns {Generator<import('../kit/types.d.mts').Cell>} */
function* plugin(kit) {
  const install = (/** @type {string} */ name, /** @type {string} */ version) => {
    const folder = kit.folder(name)
    kit.copyApp('webpack-plugin', folder)
    kit.install(folder, [kit.tarball, 'pino@10', `webpack@${version}`, 'webpack-cli@7', 'pino-webpack-plugin@2'])
    return {
      folder,
      row: `webpack ${kit.versionIn(folder, 'webpack')}, pino-webpack-plugin ${kit.versionIn(folder, 'pino-webpack-plugin')}`,
    }
  }
  const { folder, row } = install('webpack-plugin', PLUGINS_WEBPACK)
  kit.exec(BUILD, { cwd: folder })
  const cwd = box(kit, 'webpack-plugin-built', [join(folder, 'dist'), join(folder, 'before-send.mjs')])
  const cell = /** @type {const} */ ({
    table: 'tools',
    row,
    kind: 'CJS',
    cwd,
    takes: "`transports: ['pino-ingest']`, and `filename: '[name].js'`",
  })
  yield { ...cell, column: 'in-process', command: ['node', 'stream.js'] }
  yield { ...cell, column: 'worker thread', command: ['node', 'target.js'] }

  const newest = install('webpack-plugin-newest', '5')
  const refused = /** @type {const} */ ({
    table: 'tools',
    row: newest.row,
    cwd: newest.folder,
    command: BUILD,
    refuses: /Cannot find module 'webpack\/lib\//,
    takes: '`externals`, or the row above',
  })
  yield { ...refused, column: 'in-process' }
  yield { ...refused, column: 'worker thread' }
}
