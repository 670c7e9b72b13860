import pino from 'pino'

const logger = pino({ transport: { target: 'pino-ingest', options: { service: 'bundled' } } })
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'by the worker')
