/**
 * [own process] An application that logs as fast as it can through a transport in pino's worker, once to warm up, and once measured.
 * Arguments: shape, records of warm-up, records, what `pino.transport()` takes as JSON, 'flush' where no sink tells of the end.
 *
 * It says `{}` when it has logged all of a part, is told to go on, and answers a Sample in the end.
 */
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import pino from 'pino'
import { acknowledged } from '../tools/closed-loop.mjs'
import { BASE, SHAPES } from '../tools/shapes.mjs'
import { cpuNs, threadOf } from '../tools/threads.mjs'

/**
 * @typedef {object} Sample
 * @property {string} firstCallNs of the monotonic clock that all processes of the machine share
 * @property {string} flushedNs the same, where no sink tells of the end
 * @property {number} mainUs CPU a record, as are the next two
 * @property {number} workerUs
 * @property {number} othersUs threads of V8 and libuv: concurrent garbage collection, compilation, compression
 * @property {number} peakMib the most memory that the process has had resident since its start
 */

/** An application that never yields makes pino keep all in memory. */
const YIELD_EVERY = 100

const [shape, warmUp, count, transportOptions, end] =
  /** @type {[import('../tools/shapes.mjs').Shape, string, string, string, string?]} */ (
    /** @type {unknown} */ (process.argv.slice(2))
  )
const records = Number(count)
const calls = Array.from({ length: 1000 }, (_, n) => SHAPES[shape].make(n))

const { started: transport, thread } = threadOf(() => pino.transport(JSON.parse(transportOptions)))
const logger = pino({ base: BASE }, transport)

await log(Number(warmUp))
await goAhead({})
const from = cpuNs(thread)
const firstCallNs = process.hrtime.bigint()
await log(records)
const flushedNs = process.hrtime.bigint()
await goAhead({})
const until = cpuNs(thread)
const perRecordUs = (/** @type {'main' | 'worker' | 'others'} */ name) => (until[name] - from[name]) / 1000 / records
/** @type {Sample} */
const sample = {
  firstCallNs: String(firstCallNs),
  flushedNs: String(flushedNs),
  mainUs: perRecordUs('main'),
  workerUs: perRecordUs('worker'),
  othersUs: perRecordUs('others'),
  peakMib: peakMib(),
}
// How each closes is not the question, and some take seconds.
process.send?.(sample, () => process.kill(process.pid, 'SIGKILL'))

/** @param {number} total */
async function log(total) {
  for (let n = 0; n < total; n += 1) {
    const { level, object, message } = /** @type {import('../tools/shapes.mjs').Call} */ (calls[n % calls.length])
    logger[level](object, message)
    if (n % YIELD_EVERY === YIELD_EVERY - 1) await turn()
  }
  if (end === 'flush') await acknowledged(logger)
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
