/**
 * [own process] An application that logs one kind of record through the real worker transport as fast as the service
 * accepts them. Argument: `CostPlan` as JSON.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { acknowledged } from '../tools/closed-loop.mjs'
import { IDENTITY, TARGET } from '../tools/ours.mjs'
import { BASE, log as logCall, sentOf } from '../tools/shapes.mjs'
import { cpuNs, threadOf } from '../tools/threads.mjs'
import { recordsOf } from './records.mjs'

/**
 * @typedef {object} CostPlan
 * @property {import('./records.mjs').Recipe} recipe
 * @property {number} records to send, or fewer if their text exceeds `bytes`
 * @property {number} [bytes]
 * @property {number} [warmUp] records before; by default a share of `records`
 * @property {boolean} [hasKernel]
 * @property {Record<string, unknown>} options of the transport
 *
 * @typedef {{ recordsPerSecond: number, mainUs: number, workerUs: number, othersUs: number, bytesPerRecord: number }} CostRun per
 *   sent record
 */

/** Two waves are smaller than `maxBufferBytes`, so waiting entries stay in memory. */
const WAVE_BYTES = 3 * 1024 * 1024
const WAVE_MOST = 5_000
/** pino buffers everything in memory if the application never yields: yield after this many calls or this much text. */
const YIELD_CALLS = 100
const YIELD_BYTES = 64 * 1024
const WITHOUT_KERNEL = new URL('./without-kernel.cjs', import.meta.url)
const WARM_UP_SHARE = 0.3
const LEAST_WARM_UP = 1_000

/** @type {CostPlan} */
const plan = JSON.parse(/** @type {string} */ (process.argv[2]))
const calls = recordsOf(plan.recipe)
const bytesPerCall = lengthOfAll() / calls.length
const callsPerRecord = calls.length / sentOf(calls, calls.length)
const records = Math.min(plan.records, Math.ceil((plan.bytes ?? Infinity) / (bytesPerCall * callsPerRecord)))
const wave = Math.max(1, Math.min(WAVE_MOST, Math.floor(WAVE_BYTES / bytesPerCall)))
const yieldEvery = Math.max(1, Math.min(YIELD_CALLS, Math.floor(YIELD_BYTES / bytesPerCall)))

const { apiKey, ...identity } = IDENTITY
const { started: transport, thread } = threadOf(() =>
  pino.transport({
    target: plan.hasKernel === false ? fileURLToPath(WITHOUT_KERNEL) : TARGET,
    // With `nats` the forwarder has url and key.
    options: { ...identity, ...('url' in plan.options && { apiKey }), ...plan.options, ...hookOf(plan.options) },
  }),
)
/** @type {import('pino-ingest').AccountSnapshot | undefined} */
let account
transport.on('ingest:stats', (snapshot) => {
  account = snapshot
})
const logger = pino({ base: BASE, level: 'debug' }, transport)

let at = 0
const warmUp = await log(plan.warmUp ?? Math.max(LEAST_WARM_UP, Math.floor(WARM_UP_SHARE * records)))
const from = cpuNs(thread)
const fromMs = performance.now()
const measured = await log(records)
const tookMs = performance.now() - fromMs
const until = cpuNs(thread)
process.on('message', () => {}) // pino's worker does not keep the process alive
transport.end()
await new Promise((resolve) => transport.once('close', resolve))

// A summary of repeats is an additional entry of the transport.
const sum = account === undefined ? 0 : account.accepted + account.filtered - account.generated
if (sum !== warmUp.calls + measured.calls)
  throw new Error(`${warmUp.calls + measured.calls} logged, but: ${JSON.stringify(account)}`)
const us = (/** @type {'main' | 'worker' | 'others'} */ name) => (until[name] - from[name]) / 1000 / measured.sent
process.send?.(
  /** @type {CostRun} */ ({
    recordsPerSecond: (measured.sent / tookMs) * 1000,
    mainUs: us('main'),
    workerUs: us('worker'),
    othersUs: us('others'),
    bytesPerRecord: bytesPerCall * callsPerRecord,
  }),
)
process.disconnect?.()

/**
 * Whole periods would be too coarse for large records, so it stops at the first record after `least` sent ones.
 * @param {number} least
 */
async function log(least) {
  const done = { calls: 0, sent: 0 }
  /** @type {Promise<void>[]} */
  const waves = []
  while (done.sent < least) {
    const call = /** @type {import('./records.mjs').Call} */ (calls[at++ % calls.length])
    logCall(logger, call)
    done.calls += 1
    if (call.level !== 'debug') done.sent += 1
    if (done.calls % yieldEvery === 0) await turn()
    if (done.calls % wave === 0) {
      waves.push(acknowledged(logger))
      if (waves.length > 1) await waves.shift()
    }
  }
  await Promise.all([...waves, acknowledged(logger)])
  return done
}

/** The lines that pino writes. */
function lengthOfAll() {
  let bytes = 0
  const counting = pino(
    { base: BASE, level: 'debug' },
    {
      write: (line) => {
        bytes += Buffer.byteLength(line)
      },
    },
  )
  for (const call of calls) logCall(counting, call)
  return bytes
}

/** @param {Record<string, unknown>} options */
function hookOf({ beforeSend }) {
  return typeof beforeSend === 'string' ? { beforeSend: fileURLToPath(new URL(beforeSend, import.meta.url)) } : {}
}
