/** One subject at one rate, with its own sink. */
import { withPeerSink } from '../peers/run.mjs'
import { start } from '../tools/children.mjs'
import { scratchFolder } from '../tools/ours.mjs'

/**
 * @typedef {import('../peers/subjects.mjs').Subject} Subject
 * @typedef {{ perSecond: number, leadMs: number, forMs: number }} Rate
 *
 * @typedef {object} Measured per second, unless noted
 * @property {number} cpuMs of all threads
 * @property {number} mainMs
 * @property {number} workerMs
 * @property {number} othersMs
 * @property {number} wakeUps of all threads
 * @property {number} workerWakeUps
 * @property {number} [requests] if there is a sink, as are the next
 * @property {number} [delayP50Ms] from the log call to the arrival of the entry
 * @property {number} [delayP99Ms]
 */

/** Records that are missing after this time without arrivals are lost. */
const LOST_AFTER_MS = 10_000
const LIMIT_MS = 30_000

/** @param {Subject} subject @param {Rate} rate @returns {Promise<{ lost: number, measured: Measured }>} */
export async function runAtRate(subject, rate) {
  const { dir, clean } = scratchFolder()
  try {
    if (subject.peer === '') return { lost: 0, measured: measuredOf(await sampleOf(subject, rate, '', dir)) }
    return await withPeerSink(async (sink) => {
      await sink.ask({ begin: { peer: subject.peer, delayMs: 0 } })
      const { deliveries = [], ...sample } = await sampleOf(subject, rate, sink.url, dir, (entries) =>
        sink.ask({ awaits: entries, quietMs: LOST_AFTER_MS, limitMs: LIMIT_MS, withDeliveries: true }),
      )
      const came = deliveries.reduce((sum, [, entries]) => sum + entries, 0)
      return {
        lost: sample.sentAtMs.length - came,
        measured: { ...measuredOf(sample), ...deliveredOf(sample, deliveries) },
      }
    })
  } finally {
    clean()
  }
}

/**
 * @param {Subject} subject @param {Rate} rate @param {string} url @param {string} folder
 * @param {(entries: number) => Promise<import('../peers/sink.mjs').Seen>} [allCame] awaited before the application
 *   ends
 * @returns {Promise<import('./app.mjs').Sample & { deliveries?: [number, number][] }>}
 */
async function sampleOf({ target, level = 'info', options }, rate, url, folder, allCame) {
  /** @type {import('./app.mjs').Plan} */
  const plan = { shape: 'mix', ...rate, level, transport: { target, options: options(url, folder) } }
  const app = start(new URL('./app.mjs', import.meta.url), [JSON.stringify(plan)])
  try {
    await app.first
    /** @type {import('./app.mjs').Sample} */
    const sample = await app.ask('begin')
    const seen = await allCame?.(sample.sentAtMs.length)
    return { ...sample, ...(seen?.deliveries && { deliveries: seen.deliveries }) }
  } finally {
    await app.kill()
  }
}

/** @param {import('./app.mjs').Sample} sample @returns {Measured} */
function measuredOf({ fromMs, untilMs, cpuNs, wakeUps }) {
  const seconds = (untilMs - fromMs) / 1000
  const ms = (/** @type {number} */ ns) => ns / 1e6 / seconds
  return {
    cpuMs: ms(cpuNs.main + cpuNs.worker + cpuNs.others),
    mainMs: ms(cpuNs.main),
    workerMs: ms(cpuNs.worker),
    othersMs: ms(cpuNs.others),
    wakeUps: (wakeUps.main + wakeUps.worker + wakeUps.others) / seconds,
    workerWakeUps: wakeUps.worker / seconds,
  }
}

/**
 * Entries are matched by order: the first to arrive are taken for the first logged. If entries overtake others, the
 * delays are too short by that much.
 *
 * @param {import('./app.mjs').Sample} sample @param {readonly [number, number][]} deliveries
 */
function deliveredOf({ fromMs, untilMs, sentAtMs }, deliveries) {
  const cameAtMs = deliveries
    .toSorted(([a], [b]) => a - b)
    .flatMap(([atMs, entries]) => Array.from({ length: entries }, () => atMs))
  const delays = sentAtMs
    .flatMap((atMs, n) => (atMs < fromMs ? [] : [(cameAtMs[n] ?? Infinity) - atMs]))
    .toSorted((a, b) => a - b)
  const requests = deliveries.filter(([atMs]) => atMs >= fromMs && atMs < untilMs).length
  return {
    requests: requests / ((untilMs - fromMs) / 1000),
    delayP50Ms: percentile(delays, 0.5),
    delayP99Ms: percentile(delays, 0.99),
  }
}

/** By nearest rank, so that it is a measured value. @param {readonly number[]} sorted @param {number} share from 0 to 1 */
function percentile(sorted, share) {
  return /** @type {number} */ (sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)])
}
