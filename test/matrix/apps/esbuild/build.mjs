/** Like a user's own build script: everything in one file, except the listed externals. */
import { createRequire } from 'node:module'
import { build } from 'esbuild'

const { resolve } = createRequire(import.meta.url)
/** esbuild keeps `require` of Node's built-in modules in ES modules, where it does not exist. */
const banner = { js: 'import { createRequire as nodeRequire } from \'node:module\'; const require = nodeRequire(import.meta.url);' }
const shared = /** @type {const} */ ({ bundle: true, platform: 'node', target: 'node20', logLevel: 'warning' })
const esm = /** @type {const} */ ({ ...shared, format: 'esm', outExtension: { '.js': '.mjs' } })
const cjs = /** @type {const} */ ({ ...shared, format: 'cjs', outExtension: { '.js': '.cjs' } })
const entryPoints = ['src/stream.js', 'src/target.js', 'src/options.js']

await build({ ...cjs, entryPoints, outdir: 'dist/one-cjs' })
await build({ ...esm, entryPoints, outdir: 'dist/one-esm', banner })
await build({ ...esm, entryPoints, outdir: 'dist/one-esm-naive' })
await build({ ...cjs, entryPoints, outdir: 'dist/external-cjs', external: ['pino', 'pino-ingest'] })
await build({ ...esm, entryPoints, outdir: 'dist/external-esm', packages: 'external' })

const threadStream = createRequire(resolve('pino')).resolve('thread-stream')
const workers = {
  'thread-stream-worker': createRequire(threadStream).resolve('./lib/worker.js'),
  'pino-worker': createRequire(resolve('pino')).resolve('./lib/worker.js'),
  'pino-ingest': resolve('pino-ingest'),
}
await build({ ...cjs, entryPoints: { ...workers, app: 'src/workers.js' }, outdir: 'dist/workers-cjs', minify: true })
await build({ ...cjs, entryPoints: workers, outdir: 'dist/workers-esm', minify: true })
await build({ ...esm, entryPoints: { app: 'src/workers.js' }, outdir: 'dist/workers-esm', banner, define: { __dirname: 'import.meta.dirname' }, minify: true })
