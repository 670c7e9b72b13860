/**
 * [own process] An application that starts a transport, waits until it is ready, and logs one record. It is copied into the folder of
 * what is measured, where it finds pino and the transport as any application finds them.
 * Arguments: what `pino.transport()` takes as JSON; or 'stream' and the options of `ingestStream()`.
 *
 * It tells when it is ready, logs, and is killed: how each closes is not the question.
 */
import pino from 'pino'

/**
 * @typedef {object} Ready
 * @property {string} fromNs when the transport was asked for, of the monotonic clock that all processes of the machine share
 * @property {string} readyNs
 * @property {number} cpuMs of the whole process, since its start
 * @property {number} rssMib
 */

const [first, second = '{}'] = /** @type {[string, string?]} */ (/** @type {unknown} */ (process.argv.slice(2)))
const fromNs = process.hrtime.bigint()
const logger = first === 'stream' ? await inProcess() : await inWorker()
const readyNs = process.hrtime.bigint()
const { user, system } = process.cpuUsage()
/** @type {Ready} */
const ready = {
  fromNs: String(fromNs),
  readyNs: String(readyNs),
  cpuMs: (user + system) / 1000,
  rssMib: process.memoryUsage.rss() / 2 ** 20,
}
// With the mark by which the sink counts.
logger.info('[shop] first record')
process.send?.(ready)
// At its end it would deliver without waiting for a batch, as far as each does.
setInterval(() => {}, 60_000)

async function inWorker() {
  const transport = pino.transport(JSON.parse(first))
  // It never gets ready before pino has it.
  const made = pino(transport)
  await new Promise((resolve, reject) => transport.once('ready', resolve).once('error', reject))
  return made
}

async function inProcess() {
  const { ingestStream } = await import('pino-ingest')
  return pino(ingestStream(JSON.parse(second)))
}
