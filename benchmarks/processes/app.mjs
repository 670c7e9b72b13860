/**
 * [own process] One of several applications that log concurrently. Arguments: the sink's url, the spool's folder,
 * warm-up records. It receives a number of seconds to log, and at the end the request for its account.
 */
import pino from 'pino'
import { logInWaves } from '../tools/closed-loop.mjs'
import { cpuUs } from '../tools/measure.mjs'
import { IDENTITY, TARGET } from '../tools/ours.mjs'
import { BASE, callsOf } from '../tools/shapes.mjs'

/** @typedef {{ records: number, recordsPerSecond: number, cpuUs: number }} Run all threads of the process */

const WAVE_RECORDS = 3_000

const [url, dir, warmUp] = /** @type {[string, string, string]} */ (/** @type {unknown} */ (process.argv.slice(2)))
const calls = callsOf('http')
const transport = pino.transport({ target: TARGET, options: { url, ...IDENTITY, spool: { dir } } })
const logger = pino({ base: BASE }, transport)
let logged = 0
/** @type {import('pino-ingest').AccountSnapshot | undefined} */
let account
transport.on('ingest:stats', (snapshot) => {
  account = snapshot
})

process.on('message', async (/** @type {string} */ question) => {
  if (question !== 'end') process.send?.(await run(Number(question)))
  else {
    transport.end()
    await new Promise((resolve) => transport.once('close', resolve))
    process.send?.({
      lost: account === undefined ? logged : logged - account.accepted,
      peakMib: process.resourceUsage().maxRSS / 1024,
    })
    process.disconnect()
  }
})
await log((n) => n >= Number(warmUp))
process.send?.({})

/** @param {number} seconds @returns {Promise<Run>} */
async function run(seconds) {
  const from = process.cpuUsage()
  const fromMs = performance.now()
  const untilMs = fromMs + seconds * 1000
  const records = await log(() => performance.now() >= untilMs)
  return { records, recordsPerSecond: (records / (performance.now() - fromMs)) * 1000, cpuUs: cpuUs(from) }
}

/** @param {(logged: number) => boolean} isDone */
async function log(isDone) {
  const records = await logInWaves({ logger, calls, waveRecords: WAVE_RECORDS, isDone })
  logged += records
  return records
}
