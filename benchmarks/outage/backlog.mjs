/**
 * The entries that a killed process left on disk, sent by the next process, alone and with new records; and a flood
 * of new records for comparison.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { startApp, withService } from './processes.mjs'
import { cpuUsPer, reachedAt } from './timeline.mjs'

/** @typedef {{ perSecond: number, workerUs: number, mainUs: number, othersUs: number, lost: number, duplicated: number }} Speed */

/** New records, logged while the backlog is sent. */
export const BESIDE_PER_SECOND = 500
const LOOK_MS = 50
/** Share of the records before the measurement: code is compiled, and the concurrency limit grows. */
const WARM_SHARE = 0.15
/** Without a new record for this long, the remaining ones are lost. */
const PATIENCE_MS = 20_000

/**
 * Records logged as fast as the service accepts them. @param {{ records: number }} settings @returns
 * {Promise<Speed>}
 */
export function measureFlood({ records }) {
  return withService(async (sink, dir) => {
    const app = startApp({ url: sink.url, dir, way: 'flood', records })
    try {
      await app.first
      return await speed(app, sink, records)
    } finally {
      app.stop()
    }
  })
}

/**
 * Another process sends them while it logs `perSecond` records. @param {{ records: number, perSecond: number }} settings
 */
export function measureBacklog({ records, perSecond }) {
  return withService(async (sink, dir) => {
    await sink.ask('refuse')
    await leave(sink.url, dir, records)
    await sink.ask('up')
    const app = startApp({ url: sink.url, dir, way: 'paced', first: records, perSecond })
    try {
      const { startedMs } = await app.first
      await untilSeen(app, sink, records)
      const sentMs = reachedAt(await sink.ask('samples'), 'distinct', records)
      const logged = await app.ask('stop')
      const ofAll = await speed(app, sink, records + logged)
      // Records of the last second are sent when the backlog is gone.
      const waitsMs = perSecond === 0 ? null : await sink.ask(`waits ${startedMs} ${sentMs} ${records}`)
      return { ...ofAll, tookS: (sentMs - startedMs) / 1000, logged, waitsMs }
    } finally {
      app.stop()
    }
  })
}

/** @param {string} url @param {string} dir @param {number} records */
async function leave(url, dir, records) {
  const app = startApp({ url, dir, way: 'fill', records })
  try {
    await app.first
    await app.die()
  } finally {
    app.stop()
  }
}

/** @param {ReturnType<typeof startApp>} app @param {import('./processes.mjs').Sink} sink @param {number} backlog */
async function untilSeen(app, sink, backlog) {
  let before = { distinct: -1, atMs: performance.now() }
  for (;;) {
    // Includes the records logged meanwhile, of which those of one second may be in flight.
    const { distinct } = await sink.ask('seen')
    if (distinct >= backlog + 0.9 * (await app.ask('logged'))) return
    if (distinct > before.distinct) before = { distinct, atMs: performance.now() }
    else if (performance.now() - before.atMs > PATIENCE_MS)
      throw new Error(`no more records arrive after ${distinct} of ${backlog} records`)
    await sleep(LOOK_MS)
  }
}

/** @param {ReturnType<typeof startApp>} app @param {import('./processes.mjs').Sink} sink @param {number} records @returns {Promise<Speed>} */
async function speed(app, sink, records) {
  const { samples } = await app.ask('end')
  /** @type {import('./processes.mjs').SinkSample[]} */
  const served = await sink.ask('samples')
  const last = /** @type {import('./processes.mjs').SinkSample} */ (served.at(-1))
  const warm = Math.ceil(WARM_SHARE * records)
  const fromMs = reachedAt(served, 'distinct', warm)
  // Without the last ones, since a partial batch waits.
  const most = Math.floor(0.98 * Math.min(records, last.distinct))
  const untilMs = reachedAt(served, 'distinct', most)
  const us = (/** @type {'main' | 'worker' | 'others'} */ thread) =>
    cpuUsPer(samples, thread, fromMs, untilMs, most - warm)
  return {
    perSecond: ((most - warm) / (untilMs - fromMs)) * 1000,
    workerUs: us('worker'),
    mainUs: us('main'),
    othersUs: us('others'),
    ...(await sink.ask(`verdict ${records}`)),
  }
}
