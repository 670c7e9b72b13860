/**
 * [own process] An application that starts a transport, waits until it is ready, and logs one record. It is copied
 * into the measured folder, where it resolves pino and the transport like any application. Arguments: the argument of
 * `pino.transport()` as JSON; or 'stream' and the options of `ingestStream()`.
 *
 * It reports when it is ready, logs, and is killed: the shutdown is not measured.
 */
import pino from 'pino'

/**
 * @typedef {object} Ready
 * @property {string} fromNs time of the call that creates the transport, by the monotonic clock that all processes of
 *   the machine share
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
// Contains the mark that the sink counts.
logger.info('[shop] first record')
process.send?.(ready)
// At its end a transport would deliver without waiting for a full batch, as far as each supports it.
setInterval(() => {}, 60_000)

async function inWorker() {
  const transport = pino.transport(JSON.parse(first))
  // It becomes ready only after it was passed to pino.
  const made = pino(transport)
  await new Promise((resolve, reject) => transport.once('ready', resolve).once('error', reject))
  return made
}

async function inProcess() {
  const { ingestStream } = await import('pino-ingest')
  return pino(ingestStream(JSON.parse(second)))
}
