/**
 * An application that opens a file every 5 ms while a backlog is sent to the service at `URL`. Writes the result to stdout as JSON.
 */
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import pino from 'pino'

const { flush, ingestStream } = createRequire(import.meta.url)('pino-ingest')

const stream = ingestStream({ url: process.env.URL, apiKey: 'a-key', maxConcurrency: 128, logTo: 'silent' })
const problems = []
stream.on('ingest:problem', ({ message }) => problems.push(message))
const logger = pino(stream)
for (let n = 0; n < 40_000; n += 1) logger.info({ n }, 'numbered')

let [opened, failed] = [0, 0]
const opening = setInterval(() => {
  try {
    closeSync(openSync('/dev/null', 'r'))
    opened += 1
  } catch {
    failed += 1
  }
}, 5)
const { state } = await flush(logger, { timeoutMs: 60_000 })
clearInterval(opening)
process.stdout.write(`${JSON.stringify({ state, problems, failedShare: failed / (opened + failed) })}\n`)
stream.end()
