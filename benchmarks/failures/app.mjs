/**
 * [own process] A new application that logs as fast as it can through pino's worker, and waits until all is acknowledged.
 * Arguments: the service's url, records, options of the transport as JSON. It says `{ seconds, messages }`.
 */
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { flush } from 'pino-ingest'
import { BASE, SHAPES, log } from '../tools/shapes.mjs'

/** An application that never yields makes pino keep all in memory. */
const YIELD_EVERY = 100

const [url, count, options] = /** @type {[string, string, string]} */ (/** @type {unknown} */ (process.argv.slice(2)))
const records = Number(count)
const fromMs = performance.now()
const transport = pino.transport({
  target: fileURLToPath(new URL('../../dist/cjs/index.js', import.meta.url)),
  options: {
    url,
    apiKey: 'bench',
    service: 'shop',
    environment: 'production',
    version: '1.0.0',
    logTo: 'silent',
    ...JSON.parse(options),
  },
})
let messages = 0
transport.on('ingest:problem', () => {
  messages += 1
})
const logger = pino({ base: BASE }, transport)
for (let n = 0; n < records; n += 1) {
  log(logger, SHAPES.http.make(n))
  if (n % YIELD_EVERY === YIELD_EVERY - 1) await turn()
}
// In an outage it is `spooled`.
while ((await flush(logger, { timeoutMs: 300_000 })).state !== 'acknowledged') await sleep(100)
const seconds = (performance.now() - fromMs) / 1000
process.send?.({ seconds, messages }, () => process.kill(process.pid, 'SIGKILL'))
