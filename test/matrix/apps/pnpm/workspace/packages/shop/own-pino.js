import { stream } from '@shops/logger'
import pino from 'pino'

const logger = pino(stream())
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'pino here, its stream from the shared package')
