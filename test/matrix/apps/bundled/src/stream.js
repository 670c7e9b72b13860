import pino from 'pino'
import { ingestStream } from 'pino-ingest'

// The hook module is not bundled; it is loaded where the application runs, and drops private entries.
const logger = pino(ingestStream({ service: 'bundled', beforeSend: './before-send.mjs' }))
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'in the process')
logger.info({ private: true }, 'not for the service')
