import pino from 'pino'

export const logger = pino({
  transport: {
    pipeline: [
      { target: import.meta.dirname + '/through.ts' },
      { target: 'pino-ingest', options: { service: 'pipeline' } },
    ],
  },
})
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'behind another transform')
