import { flush } from 'pino-ingest'
import { logger } from './logger.js'

afterAll(async () => { await flush(logger) })
