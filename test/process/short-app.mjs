/** Logs three records and ends. */
import pino from 'pino'
import { ingestOptions, ingestStream } from 'pino-ingest'

const logger =
  process.argv[2] === 'stream'
    ? pino(ingestOptions({ transport: false }), ingestStream({ service: 'short' }))
    : pino(ingestOptions({ service: 'short' }))
for (const text of ['one', 'two', 'three']) logger.info(text)
