import { flush } from 'pino-ingest'
import { afterAll } from 'vitest'
import { logger } from './logger.js'

afterAll(async () => { await flush(logger) })
