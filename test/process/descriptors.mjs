/**
 * An application with too many open files for 3 s while most of its entries wait on disk. The service is at `URL`.
 * Writes the result to stdout as JSON.
 */
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'

const { flush, ingestStream } = createRequire(import.meta.url)('pino-ingest')
const ENTRIES = 30_000

const stream = ingestStream({
  url: process.env.URL,
  apiKey: 'a-key',
  maxBufferBytes: 1024 * 1024,
  maxConcurrency: 1,
  logTo: 'silent',
})
const dropped = {}
stream.on('ingest:dropped', ({ count, reason }) => {
  dropped[reason] = (dropped[reason] ?? 0) + count
})
const problems = []
stream.on('ingest:problem', ({ message }) => problems.push(message))
const logger = pino(stream)

// The connection is opened before and kept open.
logger.info({ n: 0 }, 'numbered')
await once(stream, 'ingest:delivered')
for (let n = 1; n < ENTRIES; n += 1) logger.info({ n }, 'numbered')

const opened = []
try {
  for (;;) opened.push(openSync('/dev/null', 'r'))
} catch (error) {
  if (error.code !== 'EMFILE') throw error
}
await sleep(3_000)
for (const fd of opened) closeSync(fd)

const { state } = await flush(logger, { timeoutMs: 60_000 })
process.stdout.write(`${JSON.stringify({ state, dropped, problems })}\n`)
stream.end()
