/**
 * [own process] An application that logs through the real worker transport as fast as the service accepts. Arguments:
 * shape, fast or reference, the sink's url (unused with the option `nats`), records, options of the transport as JSON
 * (default: no spool), records per wave (default 5,000).
 */
import { setImmediate as turn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pino from 'pino'
import { acknowledged } from './closed-loop.mjs'
import { BASE, REQUESTS, callsOf, log } from './shapes.mjs'
import { cpuNs, threadOf } from './threads.mjs'

const TARGETS = {
  fast: new URL('../../dist/cjs/index.js', import.meta.url),
  reference: new URL('../reference-path/reference-transport.cjs', import.meta.url),
}
const WARM_UP_RECORDS = 100_000
/** pino buffers everything in memory if the application never yields. */
const YIELD_EVERY = 100

const [shape, path, url, count, options = '{"spool":false}', waveSize = '5000'] =
  /** @type {[import('./shapes.mjs').Shape | 'requests', 'fast' | 'reference', string, string, string?, string?]} */ (
    /** @type {unknown} */ (process.argv.slice(2))
  )
const records = Number(count)
const given = JSON.parse(options)
/** The application is at most two waves ahead of the service's acknowledgements, so that nothing is dropped. */
const wave = Number(waveSize)
/** Calls of one period; the requests need whole periods, so that each ends. */
const calls = shape === 'requests' ? REQUESTS : callsOf(shape)

const { started: transport, thread } = threadOf(() =>
  pino.transport({
    target: fileURLToPath(TARGETS[path]),
    options: {
      // With `nats` the forwarder has url and key.
      ...(given.nats === undefined && { url, apiKey: 'bench' }),
      service: 'shop',
      environment: 'production',
      version: '1.0.0',
      ...given,
    },
  }),
)

/** @type {import('pino-ingest').AccountSnapshot | undefined} */
let account
transport.on('ingest:stats', (snapshot) => {
  account = snapshot
})
const logger = pino({ base: BASE, level: 'debug' }, transport)

await logAll(WARM_UP_RECORDS)
const from = cpuNs(thread)
const fromMs = performance.now()
await logAll(records)
const tookMs = performance.now() - fromMs
const until = cpuNs(thread)
process.on('message', () => {}) // pino's worker does not keep the process alive
transport.end()
await new Promise((resolve) => transport.once('close', resolve))

const expected = WARM_UP_RECORDS + records
if (account === undefined || account.accepted + account.filtered !== expected)
  throw new Error(`${expected} logged, but: ${JSON.stringify(account)}`)
const perRecordUs = (/** @type {'main' | 'worker' | 'others'} */ name) => (until[name] - from[name]) / 1000 / records
process.send?.({
  recordsPerSecond: (records / tookMs) * 1000,
  mainUs: perRecordUs('main'),
  workerUs: perRecordUs('worker'),
  othersUs: perRecordUs('others'),
})
process.disconnect?.()

/** @param {number} total */
async function logAll(total) {
  /** @type {Promise<void>[]} */
  const waves = []
  for (let n = 0; n < total; n += 1) {
    log(logger, /** @type {import('./shapes.mjs').Call} */ (calls[n % calls.length]))
    if (n % YIELD_EVERY === YIELD_EVERY - 1) await turn()
    if (n % wave === wave - 1) {
      waves.push(acknowledged(logger))
      if (waves.length > 1) await waves.shift()
    }
  }
  await Promise.all([...waves, acknowledged(logger)])
}
