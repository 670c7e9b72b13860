import pino from 'pino'
import { ingestStream } from 'pino-ingest'

export const logger = pino(ingestStream({ service: 'stream' }))
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'in the process')
