const path = require('node:path')
const { PinoWebpackPlugin } = require('pino-webpack-plugin')

module.exports = {
  mode: 'production', target: 'node20', entry: { stream: './src/stream.js', target: './src/target.js' }, output: { path: path.resolve('dist'), filename: '[name].js' },
  plugins: [new PinoWebpackPlugin({ transports: ['pino-ingest'] })],
}
