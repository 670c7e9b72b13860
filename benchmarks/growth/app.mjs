/**
 * [own process] One application that logs continuously. Arguments: the sink's url, the spool's folder. For each
 * number of records it receives, it logs up to that number and replies with the cost of this stretch; at the end it
 * replies with its account.
 */
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { BASE, callsOf } from '../tools/shapes.mjs'
import { IDENTITY } from '../tools/ours.mjs'
import { cpuNs, threadOf } from '../tools/threads.mjs'
import { logInWaves } from '../tools/closed-loop.mjs'
import { contentsOf } from './folder.mjs'

/**
 * @typedef {{ records: number, recordsPerSecond: number, workerUs: number, mainUs: number, othersUs: number,
 *   rssMib: number, mainHeapMib: number, workerHeapMib: number, spoolFiles: number, spoolMib: number }} Stretch
 *   up to `records`; memory and spool are the maximum within the stretch, heaps the minimum, which excludes garbage
 */

const WAVE_RECORDS = 5_000
const MIB = 2 ** 20

const [url, dir] = /** @type {[string, string]} */ (/** @type {unknown} */ (process.argv.slice(2)))
const calls = callsOf('small')
const { started: transport, thread } = threadOf(() =>
  pino.transport({
    target: fileURLToPath(new URL('./watched-transport.cjs', import.meta.url)),
    options: { url, ...IDENTITY, spool: { dir } },
  }),
)
const logger = pino({ base: BASE }, transport)
let logged = 0
let seen = nothingSeen()
/** @type {import('pino-ingest').AccountSnapshot | undefined} */
let account
transport.on('ingest:stats', (snapshot) => {
  account = snapshot
})
transport.on('bench:heap', ({ heapUsed }) => {
  seen.workerHeap = Math.min(seen.workerHeap, heapUsed)
})

process.on('message', async (/** @type {string} */ question) => {
  if (question !== 'end') process.send?.(await stretch(Number(question)))
  else {
    transport.end()
    await new Promise((resolve) => transport.once('close', resolve))
    process.send?.({ lost: account === undefined ? logged : logged - account.accepted, account })
    process.disconnect()
  }
})
process.send?.({})

/** @param {number} until @returns {Promise<Stretch>} */
async function stretch(until) {
  seen = nothingSeen()
  const before = logged
  const from = cpuNs(thread)
  const fromMs = performance.now()
  logged += await logInWaves({
    logger,
    calls,
    waveRecords: WAVE_RECORDS,
    isDone: (n) => before + n >= until,
    onWave: look,
  })
  const tookMs = performance.now() - fromMs
  const to = cpuNs(thread)
  const records = logged - before
  const perRecordUs = (/** @type {'main' | 'worker' | 'others'} */ name) => (to[name] - from[name]) / 1000 / records
  return {
    records: logged,
    recordsPerSecond: (records / tookMs) * 1000,
    workerUs: perRecordUs('worker'),
    mainUs: perRecordUs('main'),
    othersUs: perRecordUs('others'),
    rssMib: seen.rss / MIB,
    mainHeapMib: seen.mainHeap / MIB,
    workerHeapMib: seen.workerHeap / MIB,
    spoolFiles: seen.files,
    spoolMib: seen.bytes / MIB,
  }
}

function nothingSeen() {
  return { rss: 0, mainHeap: Infinity, workerHeap: Infinity, files: 0, bytes: 0 }
}

function look() {
  const { rss, heapUsed } = process.memoryUsage()
  const { files, bytes } = contentsOf(dir)
  seen = {
    ...seen,
    rss: Math.max(seen.rss, rss),
    mainHeap: Math.min(seen.mainHeap, heapUsed),
    files: Math.max(seen.files, files),
    bytes: Math.max(seen.bytes, bytes),
  }
}
