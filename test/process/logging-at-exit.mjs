/**
 * An application under test that logs while it ends, run as a real process, with `ingestStream()`.
 *
 * `PLAN`: options of pino-ingest; streams (1): number of loggers; end: natural | exit | throw | reject | handled (a signal
 * whose handler exits) | closed | destroyed (its streams, before a natural end) | before-exit-first | before-exit-last (a
 * listener for `beforeExit` logs at each event, added before or after the streams) | raised (its handler logs later, removes itself and sends the signal again; with
 * `flushOnSignal`). Except for the last three, a listener for `exit` logs two records per logger.
 *
 * Reports the number of records of each logger on file descriptor 3 after each of them.
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'

const { flushOnSignal, ingestStream } = createRequire(import.meta.url)('pino-ingest')
const { options, streams = 1, end } = JSON.parse(process.env.PLAN)
const MAX_RECORDS = 10

let n = 0
const loggers = []
function log() {
  if (n === MAX_RECORDS) process.exit(9)
  for (const [stream, logger] of loggers.entries()) logger.child({ stream }).info({ n }, 'logged')
  n += 1
  writeSync(3, `${n}\n`)
}

if (end === 'before-exit-first') process.on('beforeExit', log)
for (let stream = 0; stream < streams; stream += 1) loggers.push(pino({}, ingestStream(options)))
if (end === 'before-exit-last') process.on('beforeExit', log)
log()
const isLoggingAtExit = !['before-exit-first', 'before-exit-last', 'raised'].includes(end)
if (isLoggingAtExit)
  process.on('exit', () => {
    log()
    log()
  })

const ownStreams = loggers.map((logger) => logger[pino.symbols.streamSym])
switch (end) {
  case 'exit':
    process.exit(0)
    break
  case 'throw':
    throw new Error('on purpose')
  case 'reject':
    await Promise.reject(new Error('on purpose'))
    break
  case 'handled':
    process.on('SIGTERM', () => process.exit(0))
    process.kill(process.pid, 'SIGTERM')
    await sleep(60_000)
    break
  case 'closed':
    for (const stream of ownStreams) stream.end()
    await Promise.all(ownStreams.map((stream) => once(stream, 'close')))
    break
  case 'destroyed':
    for (const stream of ownStreams) stream.destroy()
    break
  case 'raised': {
    flushOnSignal(loggers)
    const onSignal = async (signal) => {
      await sleep(20)
      log()
      process.off('SIGTERM', onSignal)
      process.kill(process.pid, signal)
    }
    process.on('SIGTERM', onSignal)
    process.kill(process.pid, 'SIGTERM')
    await sleep(60_000)
    break
  }
}
