import { fileURLToPath } from 'node:url'
import pino from 'pino'

// Node 18 does not have import.meta.dirname.
const logger = pino({
  transport: {
    pipeline: [
      { target: fileURLToPath(new URL('through.mjs', import.meta.url)) },
      { target: 'pino-ingest', options: { service: 'pipeline' } },
    ],
  },
})
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'behind another transform')
