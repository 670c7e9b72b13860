// CommonJS, because the plugin's ES module calls `require`.
const { build } = require('esbuild')
const { esbuildPluginPino } = require('esbuild-plugin-pino')

build({
  entryPoints: ['src/target.js', 'src/stream.js'], outdir: 'dist', bundle: true, platform: 'node', target: 'node20',
  plugins: [esbuildPluginPino({ transports: ['pino-ingest'] })],
}).catch(() => process.exit(1))
