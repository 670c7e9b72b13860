/**
 * [own process] An application that logs as fast as it can through a transport in pino's worker: first the optional
 * warm-up, then the measured records. Argument: `Plan` as JSON.
 *
 * It sends `{}` when the transport is ready and the warm-up is logged, and when everything is logged. It waits for a
 * message to continue, and sends a Sample at the end.
 */
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import pino from 'pino'
import { BASE, callsOf, log } from '../tools/shapes.mjs'
import { cpuNs, threadOf } from '../tools/threads.mjs'

/**
 * @typedef {object} Plan
 * @property {import('../tools/shapes.mjs').Shape} shape
 * @property {number} warmUp records; 0: the first records of the process are measured
 * @property {number} records
 * @property {'debug' | 'info'} level of the logger
 * @property {{ target: string, options: object }} transport argument of `pino.transport()`
 *
 * @typedef {object} Sample
 * @property {string} firstCallNs by the monotonic clock that all processes of the machine share
 * @property {number} mainUs CPU of the main thread, in us
 * @property {number} workerUs
 * @property {number} othersUs threads of V8 and libuv: concurrent garbage collection, compilation, compression
 * @property {number} peakMib maximum resident memory of the process since its start
 */

/** pino buffers everything in memory if the application never yields. */
const YIELD_EVERY = 100

/** @type {Plan} */
const plan = JSON.parse(/** @type {string} */ (process.argv[2]))
const calls = callsOf(plan.shape)

const { started: transport, thread } = threadOf(() => pino.transport(plan.transport))
const logger = pino({ base: BASE, level: plan.level }, transport)

await once(transport, 'ready')
if (plan.warmUp > 0) await logAll(plan.warmUp)
await goAhead({})
const from = cpuNs(thread)
const firstCallNs = process.hrtime.bigint()
await logAll(plan.records)
await goAhead({})
const until = cpuNs(thread)
const spentUs = (/** @type {'main' | 'worker' | 'others'} */ name) => (until[name] - from[name]) / 1000
/** @type {Sample} */
const sample = {
  firstCallNs: String(firstCallNs),
  mainUs: spentUs('main'),
  workerUs: spentUs('worker'),
  othersUs: spentUs('others'),
  peakMib: peakMib(),
}
// The shutdown is not measured, and takes seconds for some.
process.send?.(sample, () => process.kill(process.pid, 'SIGKILL'))

/** @param {number} total */
async function logAll(total) {
  for (let n = 0; n < total; n += 1) {
    log(logger, /** @type {import('../tools/shapes.mjs').Call} */ (calls[n % calls.length]))
    if (n % YIELD_EVERY === YIELD_EVERY - 1) await turn()
  }
}

/** @param {object} message */
async function goAhead(message) {
  const next = once(process, 'message')
  process.send?.(message)
  await next
}

/** @returns {number} */
function peakMib() {
  const kib = /VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]
  return Number(kib) / 1024
}
