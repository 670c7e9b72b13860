import pino from 'pino'

const logger = pino({ transport: { target: 'pino-ingest', options: { service: 'esm' } } })
for (let n = 0; n < 100; n += 1) logger.info({ n }, 'from an ES module')
