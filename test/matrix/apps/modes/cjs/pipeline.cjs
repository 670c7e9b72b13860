const pino = require('pino')

const logger = pino({
  transport: {
    pipeline: [
      { target: __dirname + '/through.cjs' },
      { target: 'pino-ingest', options: { service: 'pipeline' } },
    ],
  },
})
for (let n = 0; n < 1000; n += 1) logger.info({ n }, 'behind another transform')
