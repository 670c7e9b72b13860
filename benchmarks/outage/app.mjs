/**
 * [own process] An application with the real worker transport and the spool on. It writes records like those of
 * pino-http, each with its number and the time. Argument: `AppOptions` as JSON. It replies to the commands `logged`,
 * `samples`, `stop` (stops logging), `end` (ends the transport) and `die` (as with kill -9).
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import pino from 'pino'
import { acknowledged } from '../tools/closed-loop.mjs'
import { IDENTITY, TARGET } from '../tools/ours.mjs'
import { BASE, callsOf, log as logCall } from '../tools/shapes.mjs'
import { cpuNs, threadOf } from '../tools/threads.mjs'
import { nowMs } from './tally.mjs'

/**
 * @typedef {'paced' | 'flood' | 'fill'} Way steadily until `stop`; as fast as the service accepts; as fast as the
 *   worker reads
 * @typedef {{ url: string, dir: string, way: Way, first: number, records: number, perSecond: number }} AppOptions `first`: number of
 *   the first record; `records`: of flood and fill; `perSecond`: of paced, 0 for none
 * @typedef {{ atMs: number, rssBytes: number, logged: number, main: number, worker: number, others: number }} AppSample CPU in ns
 */

const TICK_MS = 2
const SAMPLE_MS = 100
/** pino buffers everything in memory if the application never yields. */
const YIELD_EVERY = 100
/** Two waves are smaller than `maxBufferBytes`, so the measurement does not include the disk. */
const WAVE = 3_000
const PAGE_BYTES = 4096

/** @type {AppOptions} */
const { url, dir, way, first, records, perSecond } = JSON.parse(/** @type {string} */ (process.argv[2]))
const calls = callsOf('http')

const { started: transport, thread } = threadOf(() =>
  pino.transport({
    target: TARGET,
    options: { url, ...IDENTITY, spool: { dir }, logTo: 'silent' },
  }),
)
/** @type {import('pino-ingest').AccountSnapshot | undefined} */
let account
transport.on('ingest:stats', (snapshot) => {
  account = snapshot
})
const logger = pino({ base: BASE }, transport)
await once(transport, 'ready')

let logged = 0
let isStopped = false
/** @type {AppSample[]} */
const samples = []
setInterval(() => samples.push(sample()), SAMPLE_MS)

/** @returns {AppSample} */
function sample() {
  const rssPages = Number(readFileSync('/proc/self/statm', 'utf8').split(' ')[1])
  return { atMs: nowMs(), rssBytes: rssPages * PAGE_BYTES, logged, ...cpuNs(thread) }
}

function peakBytes() {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
}

/** @param {number} count */
function log(count) {
  const atUs = Math.round(nowMs() * 1000)
  for (let n = 0; n < count; n += 1) {
    const call = /** @type {import('../tools/shapes.mjs').Call} */ (calls[logged % calls.length])
    // Without errors, whose breadcrumbs would repeat the numbers of other records.
    logCall(logger, { ...call, level: 'info', object: { ...call.object, seq: first + logged, atUs } })
    logged += 1
  }
}

function pace() {
  const fromMs = nowMs()
  const timer = setInterval(() => {
    if (isStopped) clearInterval(timer)
    else log(Math.floor(((nowMs() - fromMs) * perSecond) / 1000) - logged)
  }, TICK_MS)
}

async function flood() {
  /** @type {Promise<void>[]} */
  const waves = []
  while (logged < records) {
    const until = Math.min(logged + WAVE, records)
    for (; logged < until; await turn()) log(Math.min(YIELD_EVERY, until - logged))
    waves.push(acknowledged(logger))
    if (waves.length > 1) await waves.shift()
  }
  await Promise.all(waves)
}

/** Until the worker has counted all records. */
async function fill() {
  while (logged < records) {
    log(Math.min(YIELD_EVERY, records - logged))
    await turn()
    // thread-stream's types lack this property.
    if (/** @type {import('node:stream').Writable} */ (/** @type {unknown} */ (transport)).writableNeedDrain)
      await once(transport, 'drain')
  }
  while ((account?.received ?? 0) < records) await once(transport, 'ingest:stats')
}

/** @type {Record<string, () => unknown>} */
const WORDS = {
  logged: () => logged,
  samples: () => samples,
  stop: () => {
    isStopped = true
    return logged
  },
  end: async () => {
    isStopped = true
    transport.end()
    await once(transport, 'close')
    return { account, peakBytes: peakBytes(), samples }
  },
  die: () => process.kill(process.pid, 'SIGKILL'),
}
process.on('message', async (/** @type {string} */ word) => {
  process.send?.({ answer: await /** @type {() => unknown} */ (WORDS[word])() })
})
process.on('disconnect', () => process.exit())

const startedMs = nowMs()
if (way === 'flood') await flood()
else if (way === 'fill') await fill()
else if (perSecond > 0) pace()
process.send?.({ startedMs, doneMs: nowMs() })
