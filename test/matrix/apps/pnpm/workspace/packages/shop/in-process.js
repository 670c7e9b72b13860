import { inProcessLogger } from '@shops/logger'

const logger = inProcessLogger()
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'by the stream of the shared logger')
