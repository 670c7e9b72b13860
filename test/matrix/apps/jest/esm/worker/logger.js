import pino from 'pino'

export const logger = pino({ transport: { target: 'pino-ingest', options: { service: 'jest' } } })
