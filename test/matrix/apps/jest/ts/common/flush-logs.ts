import { flush } from 'pino-ingest'
import { logger } from './logger'

afterAll(async () => { await flush(logger) })
