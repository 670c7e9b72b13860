/**
 * Bundled by webpack 5: everything in the output folder and run without node_modules, with pino as external, with
 * workers in separate files, and with pino-webpack-plugin.
 */
import { join } from 'node:path'
import { box, pair } from '../kit/box.mjs'

const NO_TARGET = /^Error: unable to determine transport target for "pino-ingest"/
const NO_WORKER_FILE = /^Error: Cannot find module '.*worker\.js'/
const KINDS = /** @type {const} */ ([
  ['CJS', 'cjs', 'cjs'],
  ['ESM', 'esm', 'mjs'],
])
const BUILD = ['npx', '--no-install', 'webpack']
/** The last version that works with the plugin, which reads internal files that later versions of webpack have moved. */
const PLUGINS_WEBPACK = '5.101'
const STREAM = { takes: '`ingestStream()`' }

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('webpack')
    for (const app of ['bundled', 'webpack']) kit.copyApp(app, folder)
    kit.install(folder, [kit.tarball, 'pino@10', 'webpack@5', 'webpack-cli@7'])
    const printed = kit.exec(BUILD, { cwd: folder })
    if (/WARNING in .*pino-ingest/.test(printed)) throw new Error(`webpack warns about the bundle:\n${printed}`)
    const built = (/** @type {string} */ name) => join(folder, 'dist', name)
    const hook = join(folder, 'before-send.mjs')
    const row = (/** @type {string} */ how) => `webpack ${kit.versionIn(folder, 'webpack')}, ${how}`

    for (const [kind, name, suffix] of KINDS) {
      const alone = { row: row('all bundled'), kind, cwd: box(kit, `webpack-${name}`, [built(`all-${name}`), hook]) }
      yield* pair(alone, `stream.${suffix}`, `target.${suffix}`, { ...STREAM, refuses: NO_TARGET })
      const beside = { row: row('all bundled, beside `node_modules`'), kind, cwd: folder }
      const all = `dist/all-${name}`
      yield* pair(beside, `${all}/stream.${suffix}`, `${all}/target.${suffix}`, { ...STREAM, refuses: NO_WORKER_FILE })
      const external = { row: row('packages external'), kind, cwd: folder }
      yield* pair(external, `dist/external-${name}/stream.${suffix}`, `dist/external-${name}/target.${suffix}`, {
        takes: "`externals: ['pino', 'pino-ingest']`, and `externalsType`",
      })
    }
    const cwd = box(kit, 'webpack-workers', [built('workers-cjs'), built('all-cjs'), hook])
    yield* pair({ row: row('workers as separate files'), kind: 'CJS', cwd }, 'stream.cjs', 'app.cjs', {
      takes: "pino's [`__bundlerPathsOverrides`](https://getpino.io/#/docs/bundling)",
    })
    yield* plugin(kit)
  },
}

/** @param {import('../kit/types.d.mts').Kit} kit @returns {Generator<import('../kit/types.d.mts').Cell>} */
function* plugin(kit) {
  const install = (/** @type {string} */ name, /** @type {string} */ version) => {
    const folder = kit.folder(name)
    for (const app of ['bundled', 'webpack-plugin']) kit.copyApp(app, folder)
    kit.install(folder, [kit.tarball, 'pino@10', `webpack@${version}`, 'webpack-cli@7', 'pino-webpack-plugin@2'])
    const [webpack, own] = ['webpack', 'pino-webpack-plugin'].map((one) => `${one} ${kit.versionIn(folder, one)}`)
    return { cwd: folder, row: `${webpack}, ${own}` }
  }
  const { cwd, row } = install('webpack-plugin', PLUGINS_WEBPACK)
  kit.exec(BUILD, { cwd })
  const built = box(kit, 'webpack-plugin-built', [join(cwd, 'dist'), join(cwd, 'before-send.mjs')])
  yield* pair({ row, kind: 'CJS', cwd: built }, 'stream.js', 'target.js', {
    takes: "`transports: ['pino-ingest']`, and `filename: '[name].js'`",
  })
  for (const cell of pair(install('webpack-plugin-newest', '5'), '', '', { takes: '`externals`, or the row above' }))
    yield { ...cell, command: BUILD, refuses: /Cannot find module 'webpack\/lib\// }
}
