import { flush } from 'pino-ingest'
import { afterAll } from 'vitest'
import { logger } from './logger.cjs'

afterAll(async () => { await flush(logger) })
