import pino from 'pino'

export const logger = pino()
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'to stdout')
