const pino = require('pino')
const { ingestStream } = require('pino-ingest')

exports.logger = pino(ingestStream({ service: 'jest' }))
