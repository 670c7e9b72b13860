import { workerLogger } from '@shops/logger'

const logger = workerLogger()
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'by the worker of the shared logger')
