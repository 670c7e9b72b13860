/**
 * [own process] A new application that logs as fast as it can through pino's worker, and waits until everything is
 * acknowledged: first the optional warm-up, then the measured records. Argument: `Plan` as JSON.
 *
 * After the warm-up it sends `{}` and waits for a message to continue. At the end it sends `{ seconds, messages,
 * workerUs }`.
 */
import { once } from 'node:events'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { flush } from 'pino-ingest'
import { IDENTITY, TARGET } from '../tools/ours.mjs'
import { BASE, callsOf, log } from '../tools/shapes.mjs'
import { cpuNs, threadOf } from '../tools/threads.mjs'

/** @typedef {{ url: string, warmUp: number, records: number, options: object }} Plan */

/** pino buffers everything in memory if the application never yields. */
const YIELD_EVERY = 100

/** @type {Plan} */
const { url, warmUp, records, options } = JSON.parse(/** @type {string} */ (process.argv[2]))
const calls = callsOf('http')
let fromMs = performance.now()
const { started: transport, thread } = threadOf(() =>
  pino.transport({
    target: TARGET,
    options: { url, ...IDENTITY, logTo: 'silent', ...options },
  }),
)
let messages = 0
transport.on('ingest:problem', () => {
  messages += 1
})
const logger = pino({ base: BASE }, transport)
if (warmUp > 0) {
  await logAll(warmUp)
  const next = once(process, 'message')
  process.send?.({})
  await next
  fromMs = performance.now()
}
const from = cpuNs(thread)
await logAll(records)
const seconds = (performance.now() - fromMs) / 1000
const workerUs = (cpuNs(thread).worker - from.worker) / 1000 / records
process.send?.({ seconds, messages, workerUs }, () => process.kill(process.pid, 'SIGKILL'))

/** @param {number} total */
async function logAll(total) {
  for (let n = 0; n < total; n += 1) {
    log(logger, /** @type {import('../tools/shapes.mjs').Call} */ (calls[n % calls.length]))
    if (n % YIELD_EVERY === YIELD_EVERY - 1) await turn()
  }
  // During an outage the state is `spooled`.
  while ((await flush(logger, { timeoutMs: 300_000 })).state !== 'acknowledged') await sleep(25)
}
