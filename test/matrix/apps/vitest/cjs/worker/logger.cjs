const pino = require('pino')

exports.logger = pino({ transport: { target: 'pino-ingest', options: { service: 'vitest' } } })
