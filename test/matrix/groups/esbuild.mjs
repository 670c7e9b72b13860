/**
 * Bundled by esbuild: everything in one file and run without node_modules, with pino as external, with workers in
 * separate files, and with esbuild-plugin-pino.
 */
import { join } from 'node:path'
import { box, pair } from '../kit/box.mjs'

const NO_TARGET = /^Error: unable to determine transport target for "pino-ingest"/
const NO_WORKER_FILE = /^Error: Cannot find module '.*worker\.js'|^ReferenceError: __dirname is not defined/
const NO_REQUIRE = /^Error: Dynamic require of "node:os" is not supported/
const BANNER = '`ingestStream()`; the [`banner`](#bundlers) in an ES module'
const KINDS = /** @type {const} */ ([
  ['CJS', 'cjs', 'cjs'],
  ['ESM', 'esm', 'mjs'],
])

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('esbuild')
    for (const app of ['bundled', 'esbuild']) kit.copyApp(app, folder)
    kit.install(folder, [kit.tarball, 'pino@10', 'esbuild@0.28'])
    kit.exec(['node', 'build.mjs'], { cwd: folder })
    const built = (/** @type {string} */ name) => join(folder, 'dist', name)
    const hook = join(folder, 'before-send.mjs')
    const row = (/** @type {string} */ how) => `esbuild ${kit.versionIn(folder, 'esbuild')}, ${how}`

    for (const [kind, name, suffix] of KINDS) {
      const alone = {
        row: row('all in one file'),
        kind,
        cwd: box(kit, `esbuild-${name}`, [built(`one-${name}`), hook]),
      }
      yield* pair(alone, `stream.${suffix}`, `target.${suffix}`, { takes: BANNER, refuses: NO_TARGET })
      const [, worker] = pair(alone, '', `options.${suffix}`, { refuses: NO_TARGET })
      yield { ...worker, kind: `${kind}, ingestOptions` }
      const beside = { row: row('all in one file beside `node_modules`'), kind, cwd: folder }
      const one = `dist/one-${name}`
      yield* pair(beside, `${one}/stream.${suffix}`, `${one}/target.${suffix}`, {
        takes: BANNER,
        refuses: NO_WORKER_FILE,
      })
      const external = { row: row('packages external'), kind, cwd: folder }
      yield* pair(external, `dist/external-${name}/stream.${suffix}`, `dist/external-${name}/target.${suffix}`, {
        takes: '`--external:pino --external:pino-ingest`, or `--packages=external`',
      })
      const sources = [built(`workers-${name}`), built(`one-${name}`), hook]
      const apart = { row: row('workers as separate files'), kind, cwd: box(kit, `esbuild-workers-${name}`, sources) }
      yield* pair(apart, `stream.${suffix}`, `app.${suffix}`, {
        takes: "pino's [`__bundlerPathsOverrides`](https://getpino.io/#/docs/bundling)",
      })
    }
    const naive = {
      row: row('ES module without `require`'),
      cwd: box(kit, 'esbuild-naive', [built('one-esm-naive'), hook]),
    }
    for (const cell of pair(naive, 'stream.mjs', 'target.mjs', { takes: 'the [`banner`](#bundlers), or CommonJS' }))
      yield { ...cell, refuses: NO_REQUIRE }
    yield* plugin(kit)
  },
}

/**
 * The plugin supports esbuild up to 0.25.8, and looks for its files in `dist` of the working directory. @param
 * {import('../kit/types.d.mts').Kit} kit @returns {Generator<import('../kit/types.d.mts').Cell>}
 */
function* plugin(kit) {
  const folder = kit.folder('esbuild-plugin')
  for (const app of ['bundled', 'esbuild-plugin']) kit.copyApp(app, folder)
  kit.install(folder, [kit.tarball, 'pino@10', 'esbuild-plugin-pino@2', 'esbuild@>=0.25.0 <=0.25.8'])
  kit.exec(['node', 'build.cjs'], { cwd: folder })
  const cwd = box(kit, 'esbuild-plugin-built', [join(folder, 'dist')], 'dist')
  box(kit, 'esbuild-plugin-built', [join(folder, 'before-send.mjs')])
  const [esbuild, own] = ['esbuild', 'esbuild-plugin-pino'].map((one) => `${one} ${kit.versionIn(folder, one)}`)
  yield* pair({ row: `${esbuild}, ${own}`, kind: 'CJS', cwd }, 'dist/stream.js', 'dist/target.js', {
    takes: "`transports: ['pino-ingest']`; start in the folder that contains `dist`",
  })
}
