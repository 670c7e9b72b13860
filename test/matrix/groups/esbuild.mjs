/**
 * Bundled by esbuild: everything in one file and run without node_modules, with pino as external, with workers in
 * separate files, and with esbuild-plugin-pino.
 */
import { join } from 'node:path'
import { box } from '../kit/box.mjs'

const NO_TARGET = /^Error: unable to determine transport target for "pino-ingest"/
const NO_WORKER_FILE = /^Error: Cannot find module '.*worker\.js'|^ReferenceError: __dirname is not defined/
const NO_REQUIRE = /^Error: Dynamic require of "node:os" is not supported/

const KINDS = /** @type {const} */ ([
  ['CJS', 'cjs', 'cjs'],
  ['CJS minified', 'cjs-minified', 'cjs'],
  ['ESM', 'esm', 'mjs'],
  ['ESM minified', 'esm-minified', 'mjs'],
])
const BANNER = 'the [`banner`](#bundlers) in an ES module'

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  async *cells(kit) {
    yield* bundles(kit)
    yield* plugin(kit)
  },
}

/** @param {import('../kit/types.d.mts').Kit} kit @returns {Generator<import('../kit/types.d.mts').Cell>} */
function* bundles(kit) {
  const folder = kit.folder('esbuild')
  kit.copyApp('esbuild', folder)
  kit.install(folder, [kit.tarball, 'pino@10', 'esbuild@0.28'])
  kit.exec(['node', 'build.mjs'], { cwd: folder })
  const built = (/** @type {string} */ name) => join(folder, 'dist', name)
  const hook = join(folder, 'before-send.mjs')
  const tools = { table: /** @type {const} */ ('tools') }
  const row = (/** @type {string} */ how) => `esbuild ${kit.versionIn(folder, 'esbuild')}, ${how}`

  for (const [kind, name, suffix] of KINDS) {
    const cwd = box(kit, `esbuild-${name}`, [built(`one-${name}`), hook])
    const cell = { ...tools, row: row('all in one file'), kind, cwd }
    yield {
      ...cell,
      column: 'in-process',
      command: ['node', `stream.${suffix}`],
      takes: `\`ingestStream()\`; ${BANNER}`,
    }
    yield { ...cell, column: 'worker thread', command: ['node', `target.${suffix}`], refuses: NO_TARGET }
    yield {
      ...cell,
      column: 'worker thread',
      kind: `${kind}, ingestOptions`,
      command: ['node', `options.${suffix}`],
      refuses: NO_TARGET,
    }
  }
  for (const [kind, name, suffix] of [
    ['CJS', 'cjs', 'cjs'],
    ['ESM', 'esm', 'mjs'],
  ]) {
    const cell = { ...tools, row: row('all in one file beside `node_modules`'), kind, cwd: folder }
    yield {
      ...cell,
      column: 'in-process',
      command: ['node', `dist/one-${name}/stream.${suffix}`],
      takes: `\`ingestStream()\`; ${BANNER}`,
    }
    yield {
      ...cell,
      column: 'worker thread',
      command: ['node', `dist/one-${name}/target.${suffix}`],
      refuses: NO_WORKER_FILE,
    }
  }
  const naive = {
    ...tools,
    row: row('ES module without `require`'),
    cwd: box(kit, 'esbuild-esm-naive', [built('one-esm-naive'), hook]),
    refuses: NO_REQUIRE,
    takes: 'the [`banner`](#bundlers), or CommonJS',
  }
  yield { ...naive, column: 'in-process', command: ['node', 'stream.mjs'] }
  yield { ...naive, column: 'worker thread', command: ['node', 'target.mjs'] }

  for (const [kind, name, suffix] of [
    ['CJS', 'cjs', 'cjs'],
    ['ESM', 'esm', 'mjs'],
  ]) {
    const cell = {
      ...tools,
      row: row('packages external'),
      kind,
      cwd: folder,
      takes: '`--external:pino --external:pino-ingest`, or `--packages=external`',
    }
    yield { ...cell, column: 'in-process', command: ['node', `dist/external-${name}/stream.${suffix}`] }
    yield { ...cell, column: 'worker thread', command: ['node', `dist/external-${name}/target.${suffix}`] }
  }
  for (const [kind, name, suffix] of [
    ['CJS', 'cjs', 'cjs'],
    ['ESM', 'esm', 'mjs'],
  ]) {
    const cwd = box(kit, `esbuild-workers-${name}`, [built(`workers-${name}`), built(`one-${name}`), hook])
    const cell = {
      ...tools,
      row: row('workers as separate files'),
      kind,
      cwd,
      takes: "pino's [`__bundlerPathsOverrides`](https://getpino.io/#/docs/bundling)",
    }
    yield { ...cell, column: 'in-process', command: ['node', `stream.${suffix}`] }
    yield { ...cell, column: 'worker thread', command: ['node', `app.${suffix}`] }
  }
}

/**
 * The plugin supports esbuild up to 0.25.8, and looks for its files in `dist` of the working directory. @param
 * {import('../kit/types.d.mts').Kit} kit @returns {Generator<import('../kit/types.d.mts').Cell>}
 */
function* plugin(kit) {
  const folder = kit.folder('esbuild-plugin')
  kit.copyApp('esbuild-plugin', folder)
  kit.install(folder, [kit.tarball, 'pino@10', 'esbuild-plugin-pino@2', 'esbuild@>=0.25.0 <=0.25.8'])
  const row = `esbuild ${kit.versionIn(folder, 'esbuild')}, esbuild-plugin-pino ${kit.versionIn(folder, 'esbuild-plugin-pino')}`
  for (const [kind, flags] of /** @type {const} */ ([
    ['CJS', []],
    ['CJS minified', ['--minify']],
  ])) {
    kit.exec(['node', 'build.cjs', ...flags], { cwd: folder })
    const cwd = box(kit, `esbuild-plugin-${flags.length}`, [join(folder, 'dist')], 'dist')
    box(kit, `esbuild-plugin-${flags.length}`, [join(folder, 'before-send.mjs')])
    const cell = /** @type {const} */ ({
      table: 'tools',
      row,
      kind,
      cwd,
      takes: "`transports: ['pino-ingest']`; start in the folder that contains `dist`",
    })
    yield { ...cell, column: 'in-process', command: ['node', 'dist/stream.js'] }
    yield { ...cell, column: 'worker thread', command: ['node', 'dist/target.js'] }
  }
}
