/**
 * One of the application processes. It logs at a steady rate through pino's worker to the queue named by
 * PINO_INGEST_NATS_SERVERS, and has no key of the log service.
 *
 * Arguments: the number of its first entry, the number of entries, entries per second.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { flush } from 'pino-ingest'
import { logOne } from './records.mjs'

const PACE_MS = 20
const FLUSH_TIMEOUT_MS = 5_000

const [first, count, perSecond] = process.argv.slice(2).map(Number)
const transport = pino.transport({ target: 'pino-ingest', options: { service: 'shop', environment: 'demo' } })
const logger = pino({ base: { pid: process.pid } }, transport)

const startedAt = performance.now()
let logged = 0
while (logged < count) {
  const due = Math.min(count, Math.floor(((performance.now() - startedAt) / 1000) * perSecond))
  for (; logged < due; logged += 1) logOne(logger, first + logged)
  await sleep(PACE_MS)
}
process.send({ logged })

// At exit, unpublished entries would stay on disk until the next start. The demo has no next start, so wait here.
let state
do ({ state } = await flush(logger, { timeoutMs: FLUSH_TIMEOUT_MS }))
while (state !== 'acknowledged' && process.connected)
process.send({ state })
process.disconnect()
