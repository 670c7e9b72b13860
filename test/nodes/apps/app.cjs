const pino = require('pino')

const logger = pino({ transport: { target: 'pino-ingest', options: { service: 'cjs' } } })
for (let n = 0; n < 100; n += 1) logger.info({ n }, 'from CommonJS')
