/**
 * [own process] An application that logs at a steady rate through a transport in pino's worker: first the lead-in,
 * then the measured period. Argument: `Plan` as JSON. It sends `{}` when the transport is ready, waits for a message
 * to start, and sends a Sample at the end.
 */
import { once } from 'node:events'
import pino from 'pino'
import { pace } from '../tools/pace.mjs'
import { BASE, callsOf, log } from '../tools/shapes.mjs'
import { cpuNs, threadOf, wakeUps } from '../tools/threads.mjs'

/**
 * @typedef {import('../tools/threads.mjs').ThreadTimes} ThreadTimes
 *
 * @typedef {object} Plan
 * @property {import('../tools/shapes.mjs').Shape} shape
 * @property {number} perSecond
 * @property {number} leadMs
 * @property {number} forMs
 * @property {'debug' | 'info'} level of the logger
 * @property {{ target: string, options: object }} transport argument of `pino.transport()`
 *
 * @typedef {object} Sample
 * @property {number} fromMs start of the measured period by the monotonic clock that all processes share
 * @property {number} untilMs
 * @property {ThreadTimes} cpuNs within that time
 * @property {ThreadTimes} wakeUps
 * @property {number[]} sentAtMs time of each log call whose record is sent, including the lead-in
 */

/** @type {Plan} */
const plan = JSON.parse(/** @type {string} */ (process.argv[2]))
const calls = callsOf(plan.shape)
const { started: transport, thread } = threadOf(() => pino.transport(plan.transport))
const logger = pino({ base: BASE, level: plan.level }, transport)
/** @type {number[]} */
const sentAtMs = []
let logged = 0

await once(transport, 'ready')
const toldToBegin = once(process, 'message')
process.send?.({})
await toldToBegin

await pace({ perSecond: plan.perSecond, forMs: plan.leadMs, call })
const from = { cpu: cpuNs(thread), wakeUps: wakeUps(thread), atMs: nowMs() }
await pace({ perSecond: plan.perSecond, forMs: plan.forMs, call })
const until = { cpu: cpuNs(thread), wakeUps: wakeUps(thread), atMs: nowMs() }
/** @type {Sample} */
const sample = {
  fromMs: from.atMs,
  untilMs: until.atMs,
  cpuNs: difference(until.cpu, from.cpu),
  wakeUps: difference(until.wakeUps, from.wakeUps),
  sentAtMs,
}
process.send?.(sample)
// The process is killed when everything has arrived.
process.on('message', () => {})

function call() {
  const one = /** @type {import('../tools/shapes.mjs').Call} */ (calls[logged % calls.length])
  if (one.level !== 'debug') sentAtMs.push(nowMs())
  log(logger, one)
  logged += 1
}

function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6
}

/** @param {ThreadTimes} a @param {ThreadTimes} b @returns {ThreadTimes} */
function difference(a, b) {
  return { main: a.main - b.main, worker: a.worker - b.worker, others: a.others - b.others }
}
