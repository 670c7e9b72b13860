import { byPath } from '@shops/logger'
import pino from 'pino'

const logger = pino(byPath)
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'pino here, its options from the shared package')
