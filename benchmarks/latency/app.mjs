/**
 * [own process] An application that logs at a steady rate, each record with its number and the time of its call.
 * Arguments: the sink's url, options of the transport as JSON, records per second, seconds.
 */
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { pace } from '../tools/pace.mjs'
import { BASE, callsOf, log } from '../tools/shapes.mjs'

const [url, options, perSecond, seconds] = /** @type {[string, string, string, string]} */ (
  /** @type {unknown} */ (process.argv.slice(2))
)
const calls = callsOf('http')
const transport = pino.transport({
  target: fileURLToPath(new URL('../../dist/cjs/index.js', import.meta.url)),
  options: {
    url,
    apiKey: 'bench',
    service: 'shop',
    environment: 'production',
    version: '1.0.0',
    ...JSON.parse(options),
  },
})
const logger = pino({ base: BASE }, transport)

const { calls: made, tookMs } = await pace({ perSecond: Number(perSecond), forMs: Number(seconds) * 1000, call })
await new Promise((resolve) => transport.flush(resolve))
process.on('message', () => {}) // pino's worker does not keep the process alive
transport.end()
await new Promise((resolve) => transport.once('close', resolve))
process.send?.({ logged: made, callsPerSecond: (made / tookMs) * 1000 })
process.disconnect?.()

/** @param {number} n */
function call(n) {
  const one = /** @type {import('../tools/shapes.mjs').Call} */ (calls[n % calls.length])
  log(logger, { ...one, object: { n, loggedUs: Number(process.hrtime.bigint() / 1000n), ...one.object } })
}
