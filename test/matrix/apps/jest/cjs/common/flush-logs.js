const { flush } = require('pino-ingest')
const { logger } = require('./logger')

afterAll(async () => { await flush(logger) })
