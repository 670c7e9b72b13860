/**
 * Common faults, for pino-ingest and the peers. Each scenario counts lost and duplicated records.
 * `full` is the size for the table, `quick` the size for `npm test`.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs, until } from './monotonic.mjs'
import { range } from './stage.mjs'

/**
 * @typedef {object} Scenario
 * @property {string} key
 * @property {string} name
 * @property {string} mustBe
 * @property {any} full
 * @property {any} quick
 * @property {(stage: import('./stage.mjs').Stage, size: any) => Promise<import('./stage.mjs').Outcome>} run
 * @property {Limits} [limits]
 * @property {true} [isOursOnly]
 * @property {true} [isAlone] its full size runs alone, since it measures milliseconds
 */

/**
 * @typedef {object} Limits limits for pino-ingest; `mayDuplicate` of the outcome limits duplicates
 * @property {number} [lost] default 0
 * @property {number} [lostAtExit] default: any, since the next start delivers them
 * @property {number} [peakRssMib]
 */

/** One record in a hundred. @param {number} n */
export const isBad = (n) => n % 100 === 37

/** pino blocks the event loop for 10 s if its worker accepts no records. A busy machine can block it for 1 to 2 s. */
const BLOCKED_MS = 5_000
/** Limit of waits for an expected event. The run then continues and fails in the check of its outcome. */
const PATIENCE_MS = 10_000
/** On a busy machine the client reads a refusal late and has already sent its next request. */
const EARLY_GRACE_MS = 500

/**
 * Runs an application that logs `count` records and ends. `during` runs `fromMs` after its first record, or when the first of
 * them is stored.
 * @param {import('./stage.mjs').Stage} stage
 * @param {{ count: number, perSecond: number, fromMs?: number | 'first-stored', padBytes?: number }} size
 * @param {() => Promise<void> | void} during
 * @param {{ isExcused?: (n: number) => boolean, isSettled?: () => boolean }} [ends] records that need not be stored, and
 *   another condition for the end
 */
export async function through(
  stage,
  { count, perSecond, fromMs = 0, padBytes = 0 },
  during,
  { isExcused = () => false, isSettled = () => true } = {},
) {
  await stage.server.up()
  const app = stage.start({ count, perSecond, padBytes, end: 'natural' })
  await app.event('started')
  if (fromMs === 'first-stored') await until(() => stage.server.stored.size > 0 || !app.isRunning, PATIENCE_MS)
  else await sleep(fromMs)
  await during()
  const hasEndedBefore = !app.isRunning
  const { code } = await app.done
  const expected = range(0, count).filter((n) => !isExcused(n))
  const lostAtExit = stage.lost(expected).length
  if (stage.isOurs && (lostAtExit > 0 || !isSettled())) await stage.nextStart(expected, isSettled)
  const blocked = app.events
    .filter(({ name, payload }) => name === 'blocked' && payload > BLOCKED_MS)
    .map(({ payload }) => `a log call took ${payload} ms`)
  const dropped = app.events
    .filter(({ name }) => name === 'ingest:dropped')
    .map(({ payload }) => `dropped: ${JSON.stringify(payload)}`)
  const wrong = [...(code === 0 ? [] : [`the application ended with ${code}`]), ...blocked, ...dropped]
  return {
    expected: count,
    hasEndedBefore,
    lostAtExit,
    lost: stage.lost(expected).length,
    wrong: stage.isOurs ? wrong : [],
  }
}

/**
 * Sets the behavior for `forMs`, and until at least one request has arrived.
 * @param {import('./fault-server.mjs').FaultServer} server @param {import('./fault-server.mjs').Behavior} behavior @param {number} forMs
 */
export async function misbehave(server, behavior, forMs) {
  const before = server.calls.length
  server.behavior = behavior
  await sleep(forMs)
  await until(() => server.calls.length > before, PATIENCE_MS)
  server.behavior = { kind: 'ok' }
}

/** @param {import('./stage.mjs').Stage} stage @param {any} size */
async function runDown(stage, size) {
  let downAt = Infinity
  const counts = await through(stage, size, async () => {
    downAt = nowMs()
    await stage.server.down()
    await sleep(size.forMs)
    await stage.server.up()
  })
  return stage.outcome({ ...counts, mayDuplicate: stage.server.inFlightAt(downAt) })
}

/** @param {number} status */
const runRetryAfter = (status) =>
  /** @type {Scenario['run']} */ (
    async (stage, size) => {
      const { server } = stage
      const headers = { 'retry-after': String(size.retryAfterSeconds) }
      const counts = await through(stage, size, () =>
        misbehave(server, { kind: 'status', status, headers }, size.forMs),
      )
      const refused = server.calls.filter((call) => call.status === status).length
      const wrong = refused === 0 ? [...counts.wrong, `no request was refused with ${status}`] : counts.wrong
      return stage.outcome({
        ...counts,
        wrong,
        early: server.early(status, size.retryAfterSeconds * 1000, EARLY_GRACE_MS),
        notes: [`${refused} requests refused`],
      })
    }
  )

/** @type {Scenario['run']} */
async function runHang(stage, size) {
  const counts = await through(stage, size, () => misbehave(stage.server, { kind: 'hang' }, size.forMs))
  return stage.outcome(counts)
}

/** The service is down during the run and up at the next start. @param {'exit' | 'natural' | 'throw' | 'hold'} end */
export const runEnding = (end) =>
  /** @type {Scenario['run']} */ (
    async (stage, { count, between }) => {
      const { server } = stage
      await server.up()
      await server.down()
      const app = stage.start({ count, end })
      await app.event('logged')
      if (end === 'hold') app.kill('SIGTERM')
      const { code } = await app.done
      between?.(stage)
      await server.up()
      const all = range(0, count)
      await stage.nextStart(all)
      const wrong = code === (end === 'throw' ? 1 : 0) ? [] : [`the application ended with ${code}`]
      return stage.outcome({ expected: count, lostAtExit: count, lost: stage.lost(all).length, wrong })
    }
  )

/** @type {Scenario['run']} */
async function runSigterm(stage, { count, settleMs }) {
  await stage.server.up()
  // Waits until the worker has started and read everything. The scenario `kill` covers unread records.
  const app = stage.start({ count, settleMs, awaitReady: true, end: 'none' })
  await app.event('logged')
  return killed(stage, app, 'SIGTERM')
}

/** @type {Scenario['run']} */
async function runKill(stage, { count, perSecond, marginMs }) {
  await stage.server.up()
  // It logs until it is killed.
  const app = stage.start({ count: 10 * count, perSecond, awaitReady: true, end: 'none' })
  await app.event('started')
  // On a busy machine the worker may not have run until then.
  const hasRead = () => marginMs === undefined || app.readAt(nowMs() - marginMs) >= 0
  await until(() => (app.loggedAt() >= count && hasRead()) || !app.isRunning, 60_000)
  return killed(stage, app, 'SIGKILL', marginMs)
}

/**
 * @param {import('./stage.mjs').Stage} stage @param {import('./run-app.mjs').App} app @param {NodeJS.Signals} signal
 * @param {number} [marginMs] only records that the worker had read this long before must arrive; default: all logged records
 */
async function killed(stage, app, signal, marginMs) {
  const at = app.kill(signal)
  await app.done
  const all = range(0, (marginMs === undefined ? app.loggedAt() : app.readAt(at - marginMs)) + 1)
  const lostAtExit = stage.lost(all).length
  await stage.nextStart(all)
  return stage.outcome({
    expected: all.length,
    lostAtExit,
    lost: stage.lost(all).length,
    mayDuplicate: stage.server.inFlightAt(at),
  })
}

/** @param {'partly' | 'partly-200' | 'none' | 'framework' | 'nameless'} form */
export const runRejecting = (form) =>
  /** @type {Scenario['run']} */ (
    async (stage, size) => {
      stage.server.behavior = { kind: 'reject', form, isBad }
      const bad = range(0, size.count).filter(isBad)
      const missingLetters = () => {
        const letters = new Set(stage.deadLetters())
        return bad.filter((n) => !letters.has(n))
      }
      // Peers do not store rejected records.
      const counts = await through(
        stage,
        size,
        () => {},
        stage.isOurs ? { isExcused: isBad, isSettled: () => missingLetters().length === 0 } : {},
      )
      if (!stage.isOurs) return stage.outcome(counts)
      const letters = stage.deadLetters()
      const missing = missingLetters()
      const innocent = letters.filter((n) => !isBad(n))
      const again = letters.length - new Set(letters).size
      const wrong = [
        ...counts.wrong,
        ...(missing.length > 0 ? [`${missing.length} of ${bad.length} rejected entries are not dead letters`] : []),
        ...(innocent.length > 0
          ? [`${innocent.length} dead letters that were not rejected, e.g. ${innocent.slice(0, 3)}`]
          : []),
        ...(again > 0 ? [`${again} dead letters twice`] : []),
      ]
      return stage.outcome({ ...counts, wrong, deadLettered: letters.length })
    }
  )

/** @type {Scenario['run']} */
async function runLostReplies(stage, size) {
  const counts = await through(stage, size, () => misbehave(stage.server, { kind: 'lost-reply' }, size.forMs))
  return stage.outcome({ ...counts, mayDuplicate: stage.server.unanswered })
}

/** @type {readonly Scenario[]} */
export const SCENARIOS = [
  {
    key: 'down',
    name: 'service down 10 s at 1k/s',
    mustBe: '0',
    run: runDown,
    limits: { lostAtExit: 0 },
    full: { count: 20_000, perSecond: 1_000, fromMs: 5_000, forMs: 10_000 },
    quick: { count: 3_000, perSecond: 1_000, fromMs: 'first-stored', forMs: 1_500 },
  },
  {
    key: '503',
    name: '503 with Retry-After 2, for 6 s',
    mustBe: '0, none sent early',
    run: runRetryAfter(503),
    limits: { lostAtExit: 0 },
    full: { count: 12_000, perSecond: 1_000, fromMs: 3_000, forMs: 6_000, retryAfterSeconds: 2 },
    quick: { count: 3_000, perSecond: 1_000, fromMs: 'first-stored', forMs: 1_500, retryAfterSeconds: 1 },
  },
  {
    key: '429',
    name: '429 with Retry-After 3, for 6 s',
    mustBe: '0, none sent early',
    run: runRetryAfter(429),
    limits: { lostAtExit: 0 },
    full: { count: 12_000, perSecond: 1_000, fromMs: 3_000, forMs: 6_000, retryAfterSeconds: 3 },
    quick: { count: 3_000, perSecond: 1_000, fromMs: 'first-stored', forMs: 1_500, retryAfterSeconds: 1 },
  },
  {
    key: 'hang',
    name: 'hang 15 s',
    mustBe: '0',
    run: runHang,
    full: { count: 20_000, perSecond: 1_000, fromMs: 2_500, forMs: 15_000 },
    quick: { count: 3_000, perSecond: 1_000, fromMs: 'first-stored', forMs: 1_500 },
  },
  {
    key: 'exit',
    name: 'process.exit after the last record, service down',
    mustBe: '0 after the next start',
    run: runEnding('exit'),
    full: { count: 10_000 },
    quick: { count: 5_000 },
  },
  {
    key: 'sigterm',
    name: 'SIGTERM without a handler',
    mustBe: 'under 10',
    run: runSigterm,
    limits: { lost: 9 },
    full: { count: 10_000, settleMs: 200 },
    quick: { count: 5_000, settleMs: 500 },
  },
  {
    key: 'kill',
    name: 'kill -9 at 1k/s',
    mustBe: 'under 10',
    run: runKill,
    limits: { lost: 9 },
    isAlone: true,
    full: { count: 6_200, perSecond: 1_000 },
    quick: { count: 1_500, perSecond: 1_000, marginMs: 250 },
  },
  {
    key: 'rejected',
    name: '1 % rejected, the rest accepted',
    mustBe: '0/0, the rejected as dead letters',
    run: runRejecting('partly'),
    limits: { lostAtExit: 0 },
    full: { count: 10_000, perSecond: 2_000 },
    quick: { count: 4_000, perSecond: 2_000 },
  },
  {
    key: 'nameless',
    name: '1 bad entry fails its batch',
    mustBe: '0/0, the bad ones as dead letters',
    run: runRejecting('nameless'),
    full: { count: 10_000, perSecond: 2_000 },
    quick: { count: 2_000, perSecond: 1_000 },
  },
  {
    key: 'outage',
    name: '20 s outage at 5k/s',
    mustBe: '0, peak under 160 MB',
    run: runDown,
    limits: { lostAtExit: 0, peakRssMib: 160 },
    full: { count: 150_000, perSecond: 5_000, fromMs: 5_000, forMs: 20_000 },
    quick: { count: 15_000, perSecond: 5_000, fromMs: 'first-stored', forMs: 1_000 },
  },
  {
    key: 'lost-replies',
    name: 'replies lost for 2 s',
    mustBe: '0/at most what was in flight',
    run: runLostReplies,
    limits: { lostAtExit: 0 },
    full: { count: 10_000, perSecond: 1_000, fromMs: 4_000, forMs: 2_000 },
    quick: { count: 2_500, perSecond: 1_000, fromMs: 'first-stored', forMs: 1_000 },
  },
]

/** Requirements that pino-ingest missed. @param {Scenario} scenario @param {import('./stage.mjs').Outcome} outcome @returns {string[]} */
export function missed({ limits = {} }, outcome) {
  const { lost, lostAtExit = 0, duplicated, mayDuplicate = 0, early = 0, peakRssMib, wrong } = outcome
  const { lost: mayLose = 0, lostAtExit: mayRemain = Infinity, peakRssMib: peakMib = Infinity } = limits
  return [
    ...(outcome.expected === 0 ? ['nothing was logged'] : []),
    ...(lost > mayLose ? [`${lost} of ${outcome.expected} lost`] : []),
    ...(lostAtExit > mayRemain ? [`${lostAtExit} not delivered at exit`] : []),
    ...(duplicated > mayDuplicate ? [`${duplicated} duplicated, where ${mayDuplicate} were in flight`] : []),
    ...(early > 0 ? [`${early} requests before their Retry-After`] : []),
    ...(peakRssMib >= peakMib ? [`peak of ${peakRssMib} MiB`] : []),
    ...wrong,
  ]
}
