/** One start of one subject in a new process, until its first record is answered. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { start } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'

/**
 * @typedef {import('../peers/subjects.mjs').Subject & { folder: string, isInProcess?: boolean }} Starter
 *   folder: of the installation
 *
 * @typedef {object} Measured
 * @property {number} readyMs from `pino.transport()`, in-process from the `import`, until the transport is ready
 * @property {number} processMs from the process's start until then
 * @property {number} cpuMs of the process until then
 * @property {number} rssMib of the process then
 * @property {number} [firstMs] from the start of `readyMs` until the first record is answered
 */

const LIMIT_MS = 10_000

/**
 * @param {{ url: string, ask: (question: object) => Promise<import('../peers/sink.mjs').Seen> }} sink
 * @param {Starter} starter @returns {Promise<Measured>} @throws Error if its record does not arrive
 */
export async function runOnce(sink, starter) {
  const { target, folder, peer, isInProcess = false } = starter
  const { dir, clean } = scratchFolder()
  const options = starter.options(sink.url, dir)
  const args = isInProcess ? ['stream', JSON.stringify(options)] : [JSON.stringify({ target, options })]
  if (peer !== '') await sink.ask({ begin: { peer, delayMs: 0 } })
  const startNs = process.hrtime.bigint()
  const app = start(pathToFileURL(join(folder, 'app.mjs')), args)
  try {
    /** @type {import('./app.mjs').Ready} */
    const { fromNs, readyNs, cpuMs, rssMib } = await app.first
    const ready = { readyMs: msBetween(fromNs, readyNs), processMs: msBetween(String(startNs), readyNs), cpuMs, rssMib }
    if (peer === '') return ready
    const { entries, lastAnswerNs } = await sink.ask({ awaits: 1, quietMs: LIMIT_MS, limitMs: LIMIT_MS })
    if (entries < 1) throw new Error(`its first record did not arrive within ${LIMIT_MS / 1000} s`)
    return { ...ready, firstMs: msBetween(fromNs, lastAnswerNs) }
  } finally {
    await app.kill()
    clean()
  }
}

/** @param {string} fromNs @param {string} untilNs of the monotonic clock that all processes share */
function msBetween(fromNs, untilNs) {
  return Number(BigInt(untilNs) - BigInt(fromNs)) / 1e6
}
