/**
 * Built by `vite build --ssr` (Rolldown): with the default externals, with everything bundled, and with only pino as
 * external.
 */
import { join } from 'node:path'
import { box } from '../kit/box.mjs'

const NO_TARGET = /^Error: unable to determine transport target for "pino-ingest"/
const NO_WORKER_FILE = /^Error: Cannot find module '.*worker\.js'|^ReferenceError: __dirname is not defined/
const KINDS = /** @type {const} */ ([
  ['ESM', 'esm', 'mjs', 'false'],
  ['ESM minified', 'esm', 'mjs', 'true'],
  ['CJS', 'cjs', 'cjs', 'false'],
  ['CJS minified', 'cjs', 'cjs', 'true'],
])

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('vite')
    kit.copyApp('vite', folder)
    kit.install(folder, [kit.tarball, 'pino@10', 'vite@8'])
    const build = (/** @type {string} */ config, env = {}) =>
      kit.exec(['npx', '--no-install', 'vite', 'build', '--config', config], { cwd: folder, env })
    const row = (/** @type {string} */ how) => `Vite ${kit.versionIn(folder, 'vite')} SSR, ${how}`

    build('vite.config.mjs')
    const asItComes = { table: /** @type {const} */ ('tools'), row: row('as it comes'), kind: 'ESM', cwd: folder }
    yield { ...asItComes, column: 'in-process', command: ['node', 'dist/default/stream.mjs'] }
    yield { ...asItComes, column: 'worker thread', command: ['node', 'dist/default/target.mjs'] }
    yield {
      ...asItComes,
      column: 'worker thread',
      kind: 'ESM, ingestOptions',
      command: ['node', 'dist/default/options.mjs'],
    }

    for (const [kind, format, suffix, minify] of KINDS) {
      build('vite.all.config.mjs', { FORMAT: format, MINIFY: minify })
      const built = join(folder, 'dist', `all-${format}`)
      const cwd = box(kit, `vite-${format}-${minify}`, [built, join(folder, 'before-send.mjs')])
      const cell = {
        table: /** @type {const} */ ('tools'),
        row: row('`ssr.noExternal: true`'),
        kind,
        cwd,
        takes: '`ingestStream()`, or the next row',
      }
      yield { ...cell, column: 'in-process', command: ['node', `stream.${suffix}`] }
      yield { ...cell, column: 'worker thread', command: ['node', `target.${suffix}`], refuses: NO_TARGET }
      yield {
        ...cell,
        column: 'worker thread',
        kind: `${kind}, ingestOptions`,
        command: ['node', `options.${suffix}`],
        refuses: NO_TARGET,
      }
      yield {
        ...cell,
        column: 'worker thread',
        kind: `${kind}, beside node_modules`,
        cwd: folder,
        command: ['node', `dist/all-${format}/target.${suffix}`],
        refuses: NO_WORKER_FILE,
      }
    }

    build('vite.external.config.mjs')
    const external = {
      table: /** @type {const} */ ('tools'),
      row: row('`noExternal: true`, packages external'),
      kind: 'ESM',
      cwd: folder,
      takes: "`ssr.external: ['pino', 'pino-ingest']`",
    }
    yield { ...external, column: 'in-process', command: ['node', 'dist/external/stream.mjs'] }
    yield { ...external, column: 'worker thread', command: ['node', 'dist/external/target.mjs'] }
  },
}
