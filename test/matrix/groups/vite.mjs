/** Built by `vite build --ssr` (Rolldown): with the default externals, with everything bundled, and with only pino as external. */
import { join } from 'node:path'
import { box, pair } from '../kit/box.mjs'

const NO_TARGET = /^Error: unable to determine transport target for "pino-ingest"/

/** @type {import('../kit/types.d.mts').Group} */
export const group = {
  *cells(kit) {
    const folder = kit.folder('vite')
    for (const app of ['bundled', 'vite']) kit.copyApp(app, folder)
    kit.install(folder, [kit.tarball, 'pino@10', 'vite@8'])
    const build = (/** @type {string} */ config, env = {}) =>
      kit.exec(['npx', '--no-install', 'vite', 'build', '--config', config], { cwd: folder, env })
    const row = (/** @type {string} */ how) => `Vite ${kit.versionIn(folder, 'vite')} SSR, ${how}`

    build('vite.config.mjs')
    const byDefault = { row: row('defaults'), kind: 'ESM', cwd: folder }
    yield* pair(byDefault, 'dist/default/stream.mjs', 'dist/default/target.mjs', {})
    for (const [kind, format, suffix] of /** @type {const} */ ([
      ['ESM', 'esm', 'mjs'],
      ['CJS', 'cjs', 'cjs'],
    ])) {
      build('vite.all.config.mjs', { FORMAT: format })
      const cwd = box(kit, `vite-${format}`, [join(folder, 'dist', `all-${format}`), join(folder, 'before-send.mjs')])
      yield* pair({ row: row('`ssr.noExternal: true`'), kind, cwd }, `stream.${suffix}`, `target.${suffix}`, {
        takes: '`ingestStream()`, or the next row',
        refuses: NO_TARGET,
      })
    }
    build('vite.external.config.mjs')
    const external = { row: row('`noExternal: true`, packages external'), kind: 'ESM', cwd: folder }
    yield* pair(external, 'dist/external/stream.mjs', 'dist/external/target.mjs', {
      takes: "`ssr.external: ['pino', 'pino-ingest']`",
    })
  },
}
