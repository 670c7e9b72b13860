const pino = require('pino')

const logger = pino({
  level: 'debug',
  transport: {
    targets: [
      { target: 'pino-ingest', level: 'debug', options: { sendLevel: 'debug' } },
      { target: 'pino/file', level: 'fatal', options: { destination: 1 } },
    ],
  },
})
for (let n = 0; n < 1000; n += 1) logger.debug({ n }, 'one of two targets')
