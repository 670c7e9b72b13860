import pino from 'pino'
import { ingestOptions } from 'pino-ingest'

export const logger = pino(ingestOptions({ transport: { target: 'pino-ingest', options: { service: 'next' } } }))
