/** An app that logs steadily while its service goes down and comes back. */
import { setTimeout as sleep } from 'node:timers/promises'
import { startApp, withService } from './processes.mjs'
import { nowMs } from './tally.mjs'
import { GRID_MS, cpuUsPer, valueAt } from './timeline.mjs'

/**
 * @typedef {{ atS: number, acknowledgedPerSecond: number, rssMib: number, backlog: number, longestWaitMs: number }} Moment
 *   `longestWaitMs` of the records logged in that moment
 */

const MIB = 1024 * 1024
const LOOK_MS = 100
/** The app detects the recovery with a reply; the batch it fills at that time still belongs to the outage. */
const OPEN_MS = 250
/** Time of logging before the outage. */
const BEFORE_MS = 8_000
/** Time of logging after the recovery is complete. */
const AFTER_MS = 3_000
/** Code is compiled in the first seconds. */
const WARM_SHARE = 0.5
/** Requests in flight in normal operation are not a backlog: milliseconds of logging. */
const USUAL_MS = 100
/** Waits this many outage durations for the end of the backlog. */
const PATIENCE = 5

/** @param {{ perSecond: number, outageMs: number }} settings */
export function measureOutage({ perSecond, outageMs }) {
  return withService(async (sink, dir) => {
    const app = startApp({ url: sink.url, dir, way: 'paced', perSecond })
    try {
      const { startedMs } = await app.first
      await sleep(BEFORE_MS)
      const downMs = await sink.ask('refuse')
      await sleep(outageMs)
      const upMs = await sink.ask('up')
      const { drainedMs, most } = await untilDrained(app, sink, { upMs, perSecond, patienceMs: PATIENCE * outageMs })
      await sleep(AFTER_MS)
      const logged = await app.ask('stop')
      const { account, peakBytes, samples } = await app.ask('end')
      const served = await sink.ask('samples')
      // For the app the outage ends here, not when the service was reachable again.
      /** @type {number | null} */
      const heardMs = await sink.ask('heard')
      const times = { startedMs, downMs, upMs, drainedMs }
      const waitsOf = (/** @type {number} */ from, /** @type {number} */ until) => sink.ask(`waits ${from} ${until} 0`)
      return {
        logged,
        ...(await sink.ask(`verdict ${logged}`)),
        account,
        downS: (downMs - startedMs) / 1000,
        upS: (upMs - startedMs) / 1000,
        drainedS: drainedMs === null ? null : (drainedMs - startedMs) / 1000,
        heardAgainS: heardMs === null ? null : (heardMs - upMs) / 1000,
        mostBacklog: most,
        peakMib: { all: peakBytes / MIB, ...peaks(samples, times) },
        workerUs: workerUs(samples, served, times),
        waitsMs: {
          before: await waitsOf(startedMs + WARM_SHARE * BEFORE_MS, downMs - 1_000),
          draining: heardMs === null ? null : await waitsOf(heardMs + OPEN_MS, drainedMs ?? Infinity),
        },
        moments: await moments(samples, served, startedMs, waitsOf),
      }
    } finally {
      app.stop()
    }
  })
}

/**
 * @param {ReturnType<typeof startApp>} app @param {import('./processes.mjs').Sink} sink
 * @param {{ upMs: number, perSecond: number, patienceMs: number }} settings
 * @returns {Promise<{ drainedMs: number | null, most: number }>}
 */
async function untilDrained(app, sink, { upMs, perSecond, patienceMs }) {
  let most = 0
  while (nowMs() < upMs + patienceMs) {
    const waiting = (await app.ask('logged')) - (await sink.ask('seen')).distinct
    if (waiting > most) most = waiting
    // Batches of 100 are always in flight.
    if (waiting <= Math.max((perSecond * USUAL_MS) / 1000, 200)) return { drainedMs: nowMs(), most }
    await sleep(LOOK_MS)
  }
  return { drainedMs: null, most }
}

/** @typedef {{ startedMs: number, downMs: number, upMs: number, drainedMs: number | null }} Times */

/** @param {readonly import('./app.mjs').AppSample[]} samples @param {Times} times */
function peaks(samples, { downMs, upMs, drainedMs }) {
  const most = (/** @type {number} */ from, /** @type {number} */ until) =>
    Math.max(...samples.filter(({ atMs }) => atMs >= from && atMs < until).map(({ rssBytes }) => rssBytes)) / MIB
  return { before: most(-Infinity, downMs), outage: most(downMs, upMs), draining: most(upMs, drainedMs ?? Infinity) }
}

/**
 * Before and during the outage per logged record; while draining per acknowledged record, which may have been logged
 * earlier.
 *
 * @param {readonly import('./app.mjs').AppSample[]} samples @param {readonly import('./processes.mjs').SinkSample[]} served @param {Times} times
 */
function workerUs(samples, served, { startedMs, downMs, upMs, drainedMs }) {
  const warmMs = startedMs + WARM_SHARE * (downMs - startedMs)
  const endMs = drainedMs ?? /** @type {{ atMs: number }} */ (samples.at(-1)).atMs
  const logged = (/** @type {number} */ from, /** @type {number} */ until) =>
    valueAt(samples, 'logged', until) - valueAt(samples, 'logged', from)
  const acknowledged = valueAt(served, 'distinct', endMs) - valueAt(served, 'distinct', upMs)
  return {
    before: cpuUsPer(samples, 'worker', warmMs, downMs, logged(warmMs, downMs)),
    outage: cpuUsPer(samples, 'worker', downMs, upMs, logged(downMs, upMs)),
    draining: cpuUsPer(samples, 'worker', upMs, endMs, acknowledged),
  }
}

/**
 * @param {readonly import('./app.mjs').AppSample[]} samples @param {readonly import('./processes.mjs').SinkSample[]} served
 * @param {number} startedMs @param {(from: number, until: number) => Promise<import('./tally.mjs').Waits | null>} waitsOf
 * @returns {Promise<Moment[]>}
 */
async function moments(samples, served, startedMs, waitsOf) {
  /** @type {Moment[]} */
  const all = []
  const endMs = /** @type {{ atMs: number }} */ (samples.at(-1)).atMs
  for (let atMs = startedMs + GRID_MS; atMs <= endMs; atMs += GRID_MS) {
    const acknowledged = valueAt(served, 'entries', atMs) - valueAt(served, 'entries', atMs - GRID_MS)
    all.push({
      atS: (atMs - startedMs) / 1000,
      acknowledgedPerSecond: (acknowledged / GRID_MS) * 1000,
      rssMib: valueAt(samples, 'rssBytes', atMs) / MIB,
      backlog: Math.max(0, valueAt(samples, 'logged', atMs) - valueAt(served, 'distinct', atMs)),
      longestWaitMs: (await waitsOf(atMs - GRID_MS, atMs))?.max ?? 0,
    })
  }
  return all
}
