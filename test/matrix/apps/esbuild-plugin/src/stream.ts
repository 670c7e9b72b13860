import pino from 'pino'
import { ingestStream } from 'pino-ingest'

// The module is no part of the bundle: it is loaded where the application runs. It drops what is private.
const logger = pino(ingestStream({ service: 'bundled', beforeSend: './before-send.mjs' }))
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'in the process')
logger.info({ private: true }, 'not for the service')
