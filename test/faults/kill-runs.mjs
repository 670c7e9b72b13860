/**
 * Many processes on one spool, each ended by kill -9. All written records must arrive, from any process. A record may arrive
 * twice only if it was in flight at a kill or when the service went down.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs, until } from './monotonic.mjs'
import { recordsBelow } from './on-disk.mjs'
import { seeded } from './random.mjs'
import { range } from './stage.mjs'

/** @typedef {import('./scenarios.mjs').Scenario} Scenario */

/** Gap between the record numbers of two processes, for records logged after the last report. */
const GAP = 1_000
/** Limit of records per process. */
const MAX_RECORDS = 1_000_000

/**
 * Alternates the server between up and down, each for a random time around `periodMs`.
 * @param {import('./fault-server.mjs').FaultServer} server @param {() => number} random @param {number} periodMs
 */
function flap(server, random, periodMs) {
  /** @type {number[]} */
  const downs = []
  const ending = new AbortController()
  const pause = () => sleep(periodMs * (0.5 + random()), undefined, { signal: ending.signal }).catch(() => {})
  const done = (async () => {
    while (!ending.signal.aborted) {
      await pause()
      downs.push(nowMs())
      await server.down()
      await pause()
      await server.up()
    }
  })()
  return {
    /** Times at which the service went down. */
    downs,
    stop: async () => {
      ending.abort()
      await done
    },
  }
}

/** @type {Scenario['run']} */
async function runProcesses(stage, { processes, perSecond, flapMs, leastMs, mostMs, seed }) {
  const { server } = stage
  const random = seeded(seed)
  await server.up()
  const flapping = flap(server, random, flapMs)
  /** @type {number[]} */
  const must = []
  /** @type {number[]} */
  const kills = []
  let first = 0
  for (let processRun = 0; processRun < processes; processRun += 1) {
    // Records logged before the worker listens are not written yet, so a process starts to log when it listens.
    const app = stage.start({ first, count: MAX_RECORDS, perSecond, awaitReady: true, end: 'none' })
    await app.event('started')
    // Otherwise, on a busy machine, all processes could end before their workers have read anything.
    await until(() => app.readAt(nowMs()) >= first, 10_000)
    await sleep(leastMs + random() * (mostMs - leastMs))
    const at = app.kill('SIGKILL')
    await app.done
    kills.push(at)
    // Records are written in their order, so those before one that is on disk or was stored had been written as well.
    const onDisk = recordsBelow(stage.spoolDir)
    const lastWritten =
      range(first, app.loggedAt() + 1).findLast((n) => onDisk.has(n) || server.stored.has(n)) ?? first - 1
    must.push(...range(first, lastWritten + 1))
    first = app.loggedAt() + 1 + GAP
  }
  await flapping.stop()
  await stage.nextStart(must)
  return stage.outcome({
    expected: must.length,
    lost: stage.lost(must).length,
    mayDuplicate: server.inFlightAt(...kills, ...flapping.downs),
  })
}

/** @type {Scenario} */
export const KILLS = {
  key: 'kills',
  name: 'kill -9, process after process, flapping service',
  run: runProcesses,
  size: { processes: 10, perSecond: 2_000, flapMs: 300, leastMs: 300, mostMs: 900, seed: 1 },
}
