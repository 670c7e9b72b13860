/**
 * An application under test, run as a real process. `PLAN` configures it. It reports events as JSON lines on file
 * descriptor 3.
 *
 * - mode: target | targets-copy | targets-before | targets-after | pipeline | stream
 * - options: of pino-ingest; pinoOptions: of pino; count: numbered records; perSecond: their rate
 * - waitsForWorker: logs when the worker has started
 * - pausesAt: after this number of records it reports `paused` and waits for SIGUSR2
 * - raw: a file whose lines are written to the transport unchanged, instead of records
 * - end: natural | exit | throw | throw-flush (a handler awaits flush(logger), then exits) | flush (await
 * logger.flush, then exit) | flush-all (await flush(logger), report, then hold) | hold (until SIGTERM, handled) |
 * signal (until SIGTERM, by flushOnSignal) | unhandled (until SIGTERM)
 * - flushTimeoutMs (of flush-all and throw-flush), holds (default true, of flush-all)
 */
import { once } from 'node:events'
import { readFileSync, writeSync } from 'node:fs'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createRequire } from 'node:module'
import pino from 'pino'

// The CommonJS build, which pino's worker loads; it loads in half the time of the ES module build.
const { flush, flushOnSignal, ingestStream } = createRequire(import.meta.url)('pino-ingest')

const plan = JSON.parse(process.env.PLAN)
if (plan.end === 'hold') process.on('SIGTERM', () => process.exit(0))
const report = (event) => writeSync(3, `${JSON.stringify(event)}\n`)
const otherTransport = (name) => fileURLToPath(new URL(`other-transports/${name}`, import.meta.url))

function destination() {
  const ours = { target: 'pino-ingest', level: 'trace', options: plan.options }
  const expecting = { target: otherTransport('expects-config.cjs'), level: 'trace', options: { file: plan.otherFile } }
  switch (plan.mode) {
    case 'target':
      return pino.transport({ target: 'pino-ingest', options: plan.options })
    case 'targets-copy':
      return pino.transport({
        targets: [ours, { ...ours, options: { ...plan.options, tags: ['copy'] } }],
        levels: plan.pinoOptions?.customLevels,
      })
    case 'targets-before':
      return pino.transport({ targets: [ours, expecting], levels: plan.pinoOptions?.customLevels })
    case 'targets-after':
      return pino.transport({ targets: [expecting, ours], levels: plan.pinoOptions?.customLevels })
    case 'pipeline':
      return pino.transport({
        pipeline: [{ target: otherTransport('pass-through.cjs') }, { target: 'pino-ingest', options: plan.options }],
      })
    case 'stream':
      return ingestStream(plan.options)
    default:
      throw new Error(`unknown mode ${plan.mode}`)
  }
}

const stream = destination()
for (const name of ['ingest:delivered', 'ingest:rejected', 'ingest:dropped', 'ingest:problem', 'ingest:stats']) {
  stream.on(name, (payload) => report({ name, payload }))
}
stream.on('error', (error) => report({ name: 'error', payload: String(error?.stack ?? error) }))

function resumed() {
  const keepAlive = setInterval(() => {}, 60_000)
  return new Promise((resolve) => {
    process.once('SIGUSR2', () => {
      clearInterval(keepAlive)
      resolve()
    })
    report({ name: 'paused' })
  })
}

if (plan.waitsForWorker) await once(stream, 'ready')
const logger = pino({ level: 'trace', ...plan.pinoOptions }, stream)

if (plan.raw !== undefined) {
  stream.write(readFileSync(plan.raw, 'utf8'))
} else {
  const startedAt = performance.now()
  for (let n = 0; n < plan.count; n += 1) {
    const callAt = performance.now()
    logger.info({ n }, 'numbered')
    const tookMs = performance.now() - callAt
    if (tookMs > 1000) report({ name: 'blocked', payload: tookMs })
    if (n + 1 === plan.pausesAt) await resumed()
    if (plan.perSecond !== undefined && n % 20 === 19) {
      const aheadMs = ((n + 1) / plan.perSecond) * 1000 - (performance.now() - startedAt)
      if (aheadMs > 1) await sleep(aheadMs)
    } else if (plan.perSecond === undefined && n % 1000 === 999 && plan.end !== 'exit' && plan.end !== 'throw')
      await turn()
  }
  if (plan.pinoOptions?.customLevels?.audit !== undefined) logger.audit({ n: plan.count }, 'audited')
  if (plan.logsError) logger.error(Object.assign(new TypeError('boom'), { code: 'E_BOOM' }), 'failed')
  report({ name: 'logged', payload: performance.now() - startedAt })
}

report({ name: 'ending', payload: performance.now() })
switch (plan.end) {
  case 'exit':
    process.exit(0)
    break
  case 'throw':
    throw new Error('uncaught on purpose')
  case 'throw-flush':
    process.on('uncaughtException', async () => {
      report({ name: 'flushed', payload: await flush(logger, { timeoutMs: plan.flushTimeoutMs }) })
      process.exit(1)
    })
    throw new Error('uncaught on purpose')
  case 'flush':
    await new Promise((resolve) => {
      logger.flush(resolve)
    })
    report({ name: 'flushed' })
    break
  case 'flush-all': {
    const startedAt = performance.now()
    const result = await flush(logger, plan.flushTimeoutMs === undefined ? {} : { timeoutMs: plan.flushTimeoutMs })
    report({ name: 'flushed', payload: { ...result, tookMs: performance.now() - startedAt } })
    if (plan.holds !== false) setInterval(() => {}, 60_000)
    break
  }
  case 'unhandled':
    await flush(logger, { timeoutMs: 20_000 }) // the service is down: resolves when everything is on disk
    report({ name: 'holding' })
    setInterval(() => {}, 60_000)
    break
  case 'signal':
    flushOnSignal(logger) // falls through
  case 'hold':
    setInterval(() => {}, 60_000)
    report({ name: 'holding' })
    break
}
