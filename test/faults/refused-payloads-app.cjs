/** Logs one bad entry and good ones, as its argument says. The environment configures the transport. */
const pino = require('pino')

const [, , plan] = process.argv
const hasRequests = plan === 'requestLogs'
const logger = pino({
  transport: {
    target: require.resolve('../../dist/cjs/index.js'),
    options: { requestLogs: hasRequests, batch: { intervalMs: 200 } },
  },
})
globalThis.logger = logger // not collected
/** @param {string} text */
function log(text) {
  if (hasRequests)
    logger.info(
      {
        req: { id: `request-id-of-${text}`, method: 'GET', url: `/${text}` },
        res: { statusCode: 200 },
        responseTime: 1,
      },
      text,
    )
  else logger.info(text)
}
let n = 1_000
const good = () => log(`good-${(n += 1)}`)

if (plan === 'leave') {
  for (let index = 0; index < 11; index += 1) log(index === 5 ? 'bad-entry' : `good-${index}`)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), 1_500)
} else {
  if (plan === 'middle') for (let index = 0; index < 5; index += 1) good()
  setTimeout(
    () => {
      if (plan !== 'good') log('bad-entry')
      let left = plan === 'alone' ? 0 : 40
      setInterval(() => {
        if (left > 0) good()
        left -= 1
      }, 250)
    },
    plan === 'middle' ? 700 : 0,
  )
}
