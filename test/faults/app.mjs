/**
 * [separate process] An application that logs numbered records, each with `n=<number>;` in its message, through the transport
 * in `PLAN`. It writes its progress with times to the file `progress`, which can be read after a kill, and
 * events as JSON lines to fd 3. `run-app.mjs` describes the plan.
 */
import { openSync, readFileSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { nowMs } from './monotonic.mjs'

/** @type {import('./run-app.mjs').Plan} */
const plan = JSON.parse(process.env.PLAN ?? '')
const { first = 0, count, perSecond, padBytes = 0, end = 'natural' } = plan
/** Without yielding, pino would keep all records in memory. */
const YIELD_EVERY = 100
/** Without this limit, a pause of the machine would put hundreds of records into one report. */
const MAX_AT_ONCE = 100
const REPORT_EVERY_MS = 1
const SAMPLE_EVERY_MS = 100
const BLOCKED_MS = 50
const WRITE_INDEX = 4
const READ_INDEX = 8

const progress = openSync(plan.progress, 'a', 0o600)
const writeEvent = (/** @type {string} */ name, /** @type {unknown} */ payload) =>
  writeSync(3, `${JSON.stringify({ name, payload, at: nowMs() })}\n`)
/** Not `maxRSS`, which includes the memory of the parent process. */
const peakRssKb = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1])
process.on('exit', () => writeEvent('exit', { peakRssKb: peakRssKb(), longestCallMs, heapGrowthBytes, heapPeakBytes }))
if (end === 'hold') process.on('SIGTERM', () => process.exit(0))

let longestCallMs = 0
let reportedAt = -Infinity
let sampledAt = -Infinity
/** Heap of the main thread since the start: live objects, and the peak including garbage. */
let heapGrowthBytes = 0
let heapPeakBytes = 0
const stream = pino.transport({ target: plan.target, options: plan.options })
for (const name of ['ingest:rejected', 'ingest:dropped', 'ingest:problem', 'ingest:stats']) {
  stream.on(name, (payload) => writeEvent(name, payload))
}
stream.on('error', (error) => writeEvent('error', String(error?.stack ?? error)))
const ready = once(stream, 'ready')
void ready.then(() => writeEvent('ready', nowMs()))
/** Records received by pino-ingest, whose worker counts text as read before it parses the records. */
let received = 0
stream.on('ingest:stats', (stats) => {
  received = stats.received
})
// An internal of thread-stream 4, whose interface does not show the worker's position.
const handOver = stream[Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kImpl') ?? '']
if (typeof handOver?.bufLen !== 'number' || !(handOver.state instanceof Int32Array))
  throw new Error('thread-stream has changed: adapt isAllRead')
const logger = pino({ level: 'trace' }, stream)
if (plan.awaitReady === true) await ready

globalThis.gc?.()
const heapAtStart = heapBytes()
const startedAt = nowMs()
writeEvent('started', startedAt)
const until = first + count
const pad = padBytes === 0 ? {} : { pad: 'x'.repeat(padBytes) }
let next = first
/** The last record that the worker has definitely read. */
let read = first - 1
while (next < until) {
  if (perSecond === undefined) {
    log(Math.min(next + YIELD_EVERY, until))
    await turn()
    continue
  }
  const due = Math.min(until, first + Math.ceil(((nowMs() - startedAt) * perSecond) / 1000))
  log(Math.min(due, next + MAX_AT_ONCE))
  if (next >= due) await sleep(1)
  else await turn()
}
report(true)
if (plan.settleMs !== undefined) {
  while (!isAllRead() || (plan.target === 'pino-ingest' && received < count)) await sleep(10)
  await sleep(plan.settleMs)
}
writeEvent('logged', { n: next - 1, tookMs: nowMs() - startedAt })
if (end === 'exit') process.exit(0)
if (end === 'throw') throw new Error('uncaught on purpose')
if (end === 'hold' || end === 'none') setInterval(() => {}, 60_000)

/** @param {number} to exclusive */
function log(to) {
  // Checked before logging: new records leave this thread only in the next turn of the event loop.
  if (isAllRead()) read = next - 1
  for (; next < to; next += 1) {
    const callAt = nowMs()
    logger.info(pad, `n=${next};`)
    const tookMs = nowMs() - callAt
    longestCallMs = Math.max(longestCallMs, tookMs)
    if (tookMs > BLOCKED_MS) writeEvent('blocked', tookMs)
  }
  report(false)
}

/** @param {boolean} always */
function report(always) {
  const at = nowMs()
  if (!always && at - reportedAt < REPORT_EVERY_MS) return
  reportedAt = at
  if (plan.watchHeap === true && at - sampledAt >= SAMPLE_EVERY_MS) {
    sampledAt = at
    heapPeakBytes = Math.max(heapPeakBytes, heapBytes() - heapAtStart)
    globalThis.gc?.()
    heapGrowthBytes = Math.max(heapGrowthBytes, heapBytes() - heapAtStart)
  }
  writeSync(progress, `${next - 1} ${at} ${read}\n`)
}

/** Whether the worker has read everything, by the two positions in the shared memory. */
function isAllRead() {
  const { state, bufLen } = handOver
  return bufLen === 0 && Atomics.load(state, READ_INDEX) === Atomics.load(state, WRITE_INDEX)
}

/** `external` includes array buffers. */
function heapBytes() {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
