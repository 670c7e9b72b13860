import pino from 'pino'
import { ingestStream } from 'pino-ingest'

export const logger = pino(ingestStream({ service: 'jest' }))
