/** Bundles everything into the output folder, as CommonJS and as ES module; and once without pino. */
const path = require('node:path')

const cjs = (folder, more) => ({
  mode: 'production', target: 'node20', entry: { stream: './src/stream.js', target: './src/target.js', options: './src/options.js' },
  output: { path: path.resolve('dist', folder), filename: '[name].cjs' }, ...more,
})
const esm = (folder, more) => ({
  ...cjs(folder, more), experiments: { outputModule: true },
  output: { path: path.resolve('dist', folder), filename: '[name].mjs', module: true, chunkFormat: 'module' },
})
const unminified = { optimization: { minimize: false } }

module.exports = [
  cjs('all-cjs'),
  esm('all-esm', unminified),
  cjs('external-cjs', { ...unminified, externalsType: 'commonjs', externals: ['pino', 'pino-ingest'] }),
  esm('external-esm', { ...unminified, externalsType: 'module', externals: ['pino', 'pino-ingest'] }),
  {
    ...cjs('workers-cjs', unminified),
    entry: {
      app: './src/workers.js',
      'thread-stream-worker': 'thread-stream/lib/worker.js',
      'pino-worker': 'pino/lib/worker.js',
      'pino-ingest': 'pino-ingest',
    },
    output: { path: path.resolve('dist/workers-cjs'), filename: '[name].cjs', library: { type: 'commonjs2' } },
  },
]
