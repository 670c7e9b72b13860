/**
 * [own process] An application that logs at the requested rate, and reports the cost on its main thread. Arguments:
 * variant, shape, the sink's url, the spool's folder. It receives slices of time, and at the end the request for its
 * account.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { callsOf, log } from '../tools/shapes.mjs'
import { cpuNs, wakeUpsOf } from '../tools/threads.mjs'
import { loggingOf } from './loggers.mjs'
import { pace } from '../tools/pace.mjs'

/**
 * @typedef {{ perSecond: number, forMs: number }} Slice the request
 * @typedef {{ callsPerSecond: number, mainUs: number, workerUs: number, othersUs: number,
 *   delayP50Ms: number, delayP99Ms: number, messagesPerSecond: number, waitsPerSecond: number }} Cost
 *   CPU per call; `messages`: from the worker to the main thread; `waits`: how often the worker went to sleep
 */

const [variant, shape, url, spoolDir] =
  /** @type {[import('./loggers.mjs').Variant, import('../tools/shapes.mjs').Shape, string, string]} */ (
    process.argv.slice(2)
  )
const calls = callsOf(shape)
const { logger, transport, thread } = loggingOf(variant, url, spoolDir)
const delay = monitorEventLoopDelay({ resolution: 1 })

let logged = 0
let messages = 0
transport?.worker.on('message', () => {
  messages += 1
})

process.on('message', async (/** @type {string} */ question) => {
  if (question !== 'end') process.send?.(await cost(JSON.parse(question)))
  else {
    process.send?.({ lost: await lost() })
    process.disconnect()
  }
})
process.send?.({})

/** @param {Slice} slice @returns {Promise<Cost>} */
async function cost({ perSecond, forMs }) {
  messages = 0
  delay.reset()
  delay.enable()
  const waitsBefore = thread === '' ? 0 : wakeUpsOf(thread)
  const from = cpuNs(thread)
  const { calls: made, tookMs } = await pace({ perSecond, forMs, call })
  const until = cpuNs(thread)
  delay.disable()
  const messagesPerSecond = (messages / tookMs) * 1000
  const waitsPerSecond = thread === '' ? 0 : ((wakeUpsOf(thread) - waitsBefore) / tookMs) * 1000
  await acknowledged() // the remaining work must not affect the next process
  const perCallUs = (/** @type {'main' | 'worker' | 'others'} */ name) => (until[name] - from[name]) / 1000 / made
  return {
    callsPerSecond: (made / tookMs) * 1000,
    mainUs: perCallUs('main'),
    workerUs: perCallUs('worker'),
    othersUs: perCallUs('others'),
    delayP50Ms: delay.percentile(50) / 1e6,
    delayP99Ms: delay.percentile(99) / 1e6,
    messagesPerSecond,
    waitsPerSecond,
  }
}

/** @param {number} n */
function call(n) {
  if (logger === undefined) return
  log(logger, /** @type {import('../tools/shapes.mjs').Call} */ (calls[n % calls.length]))
  logged += 1
}

/** @returns {Promise<void>} */
function acknowledged() {
  return new Promise((resolve, reject) => {
    if (transport === undefined) resolve()
    else transport.flush((/** @type {Error | undefined} */ error) => (error ? reject(error) : resolve()))
  })
}

/** The entries that the service did not accept. The listener is added only now, so it costs nothing before. */
async function lost() {
  if (transport === undefined) return 0
  /** @type {import('pino-ingest').AccountSnapshot | undefined} */
  let account
  transport.on('ingest:stats', (/** @type {import('pino-ingest').AccountSnapshot} */ snapshot) => {
    account = snapshot
  })
  transport.end()
  await new Promise((resolve) => transport.once('close', resolve))
  if (variant === 'dropping') return 0
  if (account === undefined) throw new Error('the transport did not report its account')
  return logged - account.accepted
}
