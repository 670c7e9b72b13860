/**
 * [own process] An application that logs as fast as it can, with a profiler in the worker from ready, or from the end
 * of the warm-up, until everything is acknowledged. Argument: `Plan` as JSON. It sends a Profiled at the end.
 */
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { BroadcastChannel } from 'node:worker_threads'
import pino from 'pino'
import { acknowledged } from '../tools/closed-loop.mjs'
import { BASE, callsOf, log, sentOf } from '../tools/shapes.mjs'
import { cpuNs, threadOf } from '../tools/threads.mjs'

/**
 * @typedef {object} Plan
 * @property {import('../tools/shapes.mjs').Shape} shape
 * @property {number} warmUp records; 0: from ready
 * @property {number} records
 * @property {string} file of the profile; '' for none
 * @property {object} options of the transport
 *
 * @typedef {{ sent: number, workerUs: number, othersUs: number }} Profiled CPU per sent entry
 */

/** pino buffers everything in memory if the application never yields. */
const YIELD_EVERY = 100
/** The unbundled build, so that the profile names the modules. */
const TARGET = fileURLToPath(new URL('../../build/modules/index.js', import.meta.url))
const PROFILED = fileURLToPath(new URL('./profiled-transport.cjs', import.meta.url))

/** @type {Plan} */
const plan = JSON.parse(/** @type {string} */ (process.argv[2]))
const calls = callsOf(plan.shape)
const channel = new BroadcastChannel('pino-ingest-bench-profile')
const { started: transport, thread } = threadOf(() =>
  pino.transport(
    plan.file === ''
      ? { target: TARGET, options: plan.options }
      : { target: PROFILED, options: { target: TARGET, options: plan.options } },
  ),
)
const logger = pino({ base: BASE, level: 'debug' }, transport)
await once(transport, 'ready')
await logAll(plan.warmUp)
await profiler({})
const from = cpuNs(thread)
await logAll(plan.records)
const until = cpuNs(thread)
await profiler({ file: plan.file })
const sent = sentOf(calls, plan.records)
/** @type {Profiled} */
const profiled = {
  sent,
  workerUs: (until.worker - from.worker) / 1000 / sent,
  othersUs: (until.others - from.others) / 1000 / sent,
}
process.send?.(profiled, () => process.kill(process.pid, 'SIGKILL'))

/** @param {number} total */
async function logAll(total) {
  for (let n = 0; n < total; n += 1) {
    log(logger, /** @type {import('../tools/shapes.mjs').Call} */ (calls[n % calls.length]))
    if (n % YIELD_EVERY === YIELD_EVERY - 1) await turn()
  }
  if (total > 0) await acknowledged(logger)
}

/** @param {{ file?: string }} message @returns {Promise<void>} */
async function profiler(message) {
  if (plan.file === '') return
  const answered = new Promise((resolve) => channel.addEventListener('message', resolve, { once: true }))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- not a window's
  channel.postMessage(message)
  await answered
}
