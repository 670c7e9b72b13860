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
/** Share of the records read in time that may be unwritten at a kill, since their worker had no processor. */
const UNWRITTEN_SHARE = 0.1

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
async function runProcesses(
  stage,
  { processes, perSecond, flapMs, leastMs, mostMs, marginMs, awaitsRead = false, seed },
) {
  const { server } = stage
  const random = seeded(seed)
  await server.up()
  const flapping = flap(server, random, flapMs)
  /** @type {number[]} */
  const must = []
  let read = 0
  let unwritten = 0
  /** @type {number[]} */
  const kills = []
  let first = 0
  for (let processRun = 0; processRun < processes; processRun += 1) {
    // Records logged before the worker listens are not written yet, so a process starts to log when it listens.
    const app = stage.start({ first, count: MAX_RECORDS, perSecond, awaitReady: true, end: 'none' })
    await app.event('started')
    // Otherwise, on a busy machine, all processes could end before their workers have read anything.
    if (awaitsRead) await until(() => app.readAt(nowMs()) >= first, 10_000)
    await sleep(leastMs + random() * (mostMs - leastMs))
    const at = app.kill('SIGKILL')
    await app.done
    kills.push(at)
    // Records are written in their order, so those before one that is on disk or was stored had been written as well.
    const onDisk = recordsBelow(stage.spoolDir)
    const lastWritten =
      range(first, app.loggedAt() + 1).findLast((n) => onDisk.has(n) || server.stored.has(n)) ?? first - 1
    must.push(...range(first, lastWritten + 1))
    const lastRead = app.readAt(at - marginMs)
    read += lastRead + 1 - first
    unwritten += Math.max(0, lastRead - lastWritten)
    first = app.loggedAt() + 1 + GAP
  }
  await flapping.stop()
  const lostAtExit = stage.lost(must).length
  await stage.nextStart(must)
  return stage.outcome({
    expected: must.length,
    lostAtExit,
    lost: stage.lost(must).length,
    mayDuplicate: server.inFlightAt(...kills, ...flapping.downs),
    notes: [
      `${processes} processes, the service went down ${flapping.downs.length} times`,
      `of ${read} records read over ${marginMs} ms before a kill, ${unwritten} were not written`,
    ],
    wrong: unwritten > read * UNWRITTEN_SHARE ? [`${unwritten} of ${read} records were not written in time`] : [],
  })
}

/** @type {Scenario['run']} */
async function runDeep(stage, { count, depth, latencyMs, leastMs, mostMs, seed }) {
  const { server } = stage
  const random = seeded(seed)
  await server.up()
  await server.down()
  const writer = stage.start({ count, settleMs: 500, awaitReady: true, end: 'none' })
  await writer.event('logged')
  writer.kill('SIGKILL')
  await writer.done
  server.behavior = { kind: 'ok', latencyMs }
  await server.up()
  const kills = []
  const notes = []
  for (let processRun = 0; processRun < depth; processRun += 1) {
    const before = server.calls.length
    const app = stage.start({ count: 0, end: 'none' })
    await until(() => server.calls.length > before, 10_000)
    await sleep(leastMs + random() * (mostMs - leastMs))
    kills.push(app.kill('SIGKILL'))
    await app.done
    notes.push(`${server.stored.size} stored at kill ${processRun + 1}`)
  }
  const all = range(0, count)
  const lostAtExit = stage.lost(all).length
  await stage.nextStart(all)
  // The kill must happen during the recovery.
  const wrong =
    lostAtExit === 0 || lostAtExit === count ? [`no kill was in the middle of the recovery: ${notes.join(', ')}`] : []
  return stage.outcome({
    expected: count,
    lostAtExit,
    lost: stage.lost(all).length,
    mayDuplicate: server.inFlightAt(...kills),
    notes,
    wrong,
  })
}

/** @type {readonly Scenario[]} */
export const KILL_SCENARIOS = [
  {
    key: 'kills',
    name: 'kill -9, process after process, flapping service',
    mustBe: '0/at most what was in flight',
    run: runProcesses,
    isOursOnly: true,
    isAlone: true,
    full: { processes: 100, perSecond: 2_000, flapMs: 1_000, leastMs: 0, mostMs: 2_000, marginMs: 10, seed: 1 },
    // While other tests run, a worker waits longer for a processor.
    quick: {
      processes: 10,
      perSecond: 2_000,
      flapMs: 300,
      leastMs: 300,
      mostMs: 900,
      marginMs: 250,
      awaitsRead: true,
      seed: 1,
    },
  },
  {
    key: 'deep',
    name: 'kill -9 in the middle of a recovery, three deep',
    mustBe: '0/at most what was in flight',
    run: runDeep,
    isOursOnly: true,
    full: { count: 20_000, depth: 3, latencyMs: 200, leastMs: 300, mostMs: 700, seed: 1 },
    quick: { count: 5_000, depth: 3, latencyMs: 200, leastMs: 250, mostMs: 400, seed: 1 },
  },
]
