/**
 * Calls everything in an application that may send without a URL. Prints one JSON line: the result of each helper,
 * and the problems.
 */
import pino from 'pino'
import { IngestClient, ingestStream, monitor, registerRelease, sendFeedback } from 'pino-ingest'

const { MARKER, MONITOR } = process.env
const problems = []
const worker = pino.transport({ target: 'pino-ingest', options: {} })
worker.on('ingest:problem', ({ code }) => problems.push(code))
const inWorker = pino(worker)
const stream = ingestStream()
const inProcess = pino(stream)

const outcomes = {}
const attempt = async (name, call) => {
  outcomes[name] = await call().then(
    () => 'done',
    (error) => error.code,
  )
}

if (process.argv[2] === 'until-stdin-ends') {
  let count = 0
  const timer = setInterval(() => inWorker.info(`${MARKER}-${count++};`), 20)
  process.stdin
    .on('data', () => process.stdout.write(`${count}\n`))
    .once('end', () => {
      clearInterval(timer)
      worker.end()
    })
} else {
  inWorker.info(`${MARKER}-worker`)
  inProcess.info(`${MARKER}-stream`)
  const client = new IngestClient({ maxAttempts: 1 })
  await Promise.all([
    attempt('registerRelease', () => registerRelease({ version: `${MARKER}-release` })),
    attempt('sendFeedback', () => sendFeedback({ event_id: `${MARKER}-event`, comments: `${MARKER}-helper` })),
    attempt('heartbeat', () => client.heartbeat(MONITOR)),
    attempt('ingest', () =>
      client.ingest({ logs: [{ level: 'info', message: `${MARKER}-client`, timestamp: new Date().toISOString() }] }),
    ),
    monitor(MONITOR, () => {}),
  ])
  await client.close()
  const alive = setInterval(() => {}, 1_000) // neither keeps the process alive
  await Promise.all(
    [worker, stream].map(
      (one) =>
        new Promise((resolve) => {
          one.once('close', resolve)
          one.end()
        }),
    ),
  )
  clearInterval(alive)
  process.stdout.write(`${JSON.stringify({ outcomes, problems })}\n`)
}
