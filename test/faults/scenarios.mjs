/** Faults of some seconds. Each scenario counts lost and duplicated records. */
import { closeSync, existsSync, openSync, readdirSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { KILLS } from './kill-runs.mjs'
import { nowMs, until } from './monotonic.mjs'
import { range, Stage } from './stage.mjs'
import { STOPPED } from './stop-cont.mjs'

/**
 * @typedef {object} Scenario
 * @property {string} key
 * @property {string} name
 * @property {any} size
 * @property {boolean} [isQuick] for `npm test`
 * @property {(stage: import('./stage.mjs').Stage, size: any) => Promise<import('./stage.mjs').Outcome>} run
 * @property {Limits} [limits]
 */

/**
 * @typedef {object} Limits `mayDuplicate` of the outcome limits duplicates
 * @property {number} [lost] default 0
 */

/** One record in a hundred. @param {number} n */
const isBad = (n) => n % 100 === 37

/** pino blocks the event loop for 10 s if its worker accepts no records. A busy machine can block it for 1 to 2 s. */
const BLOCKED_MS = 5_000
/** Limit of waits for an expected event. The run then continues and fails in the check of its outcome. */
const PATIENCE_MS = 10_000
/** On a busy machine the client reads a refusal late and has already sent its next request. */
const EARLY_GRACE_MS = 500

/**
 * Runs an application that logs `count` records and ends. `during` runs when the first of them is stored.
 * @param {import('./stage.mjs').Stage} stage
 * @param {{ count: number, perSecond: number, padBytes?: number }} size
 * @param {(() => Promise<void>) | undefined} during
 * @param {{ isExcused?: (n: number) => boolean, isSettled?: () => boolean }} [ends] records that need not be stored, and
 *   another condition for the end
 */
async function through(
  stage,
  { count, perSecond, padBytes = 0 },
  during,
  { isExcused = () => false, isSettled = () => true } = {},
) {
  await stage.server.up()
  const app = stage.start({ count, perSecond, padBytes, end: 'natural' })
  await app.event('started')
  if (during !== undefined) {
    await until(() => stage.server.stored.size > 0 || !app.isRunning, PATIENCE_MS)
    await during()
  }
  const { code } = await app.done
  const expected = range(0, count).filter((n) => !isExcused(n))
  if (stage.lost(expected).length > 0 || !isSettled()) await stage.nextStart(expected, isSettled)
  const blocked = app.events
    .filter(({ name, payload }) => name === 'blocked' && payload > BLOCKED_MS)
    .map(({ payload }) => `a log call took ${payload} ms`)
  const dropped = app.events
    .filter(({ name }) => name === 'ingest:dropped')
    .map(({ payload }) => `dropped: ${JSON.stringify(payload)}`)
  const wrong = [...(code === 0 ? [] : [`the application ended with ${code}`]), ...blocked, ...dropped]
  return {
    expected: count,
    lost: stage.lost(expected).length,
    wrong,
  }
}

/**
 * Sets the behavior for `forMs`, and until at least one request has arrived.
 * @param {import('./fault-server.mjs').FaultServer} server @param {import('./fault-server.mjs').Behavior} behavior @param {number} forMs
 */
async function misbehave(server, behavior, forMs) {
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

/** @type {Scenario['run']} */
async function runRetryAfter(stage, size) {
  const { server } = stage
  const headers = { 'retry-after': '1' }
  const counts = await through(stage, size, () =>
    misbehave(server, { kind: 'status', status: 429, headers }, size.forMs),
  )
  const isRefused = server.calls.some(({ status }) => status === 429)
  return stage.outcome({
    ...counts,
    wrong: isRefused ? counts.wrong : [...counts.wrong, 'no request was refused'],
    early: server.early(429, 1_000, EARLY_GRACE_MS),
  })
}

/** @param {import('./fault-server.mjs').Behavior} behavior */
const runMisbehaving = (behavior) =>
  /** @type {Scenario['run']} */ (
    async (stage, size) => {
      const { server } = stage
      const counts = await through(stage, size, async () => {
        const before = server.calls.length
        await misbehave(server, behavior, size.forMs)
        if (server.calls.length === before) counts.wrong.push(`no request met ${behavior.kind}`)
      })
      return stage.outcome({ ...counts, mayDuplicate: server.unanswered })
    }
  )

/** The service is down during the run and up at the next start. @param {'exit' | 'natural' | 'throw' | 'hold'} end */
const runEnding = (end) =>
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
      return stage.outcome({ expected: count, lost: stage.lost(all).length, wrong })
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
  await stage.nextStart(all)
  return stage.outcome({
    expected: all.length,
    lost: stage.lost(all).length,
    mayDuplicate: stage.server.inFlightAt(at),
  })
}

/** @param {'partly' | 'partly-200' | 'none' | 'framework' | 'nameless'} form */
const runRejecting = (form) =>
  /** @type {Scenario['run']} */ (
    async (stage, size) => {
      stage.server.behavior = { kind: 'reject', form, isBad }
      const bad = range(0, size.count).filter(isBad)
      const missingLetters = () => {
        const letters = new Set(stage.deadLetters())
        return bad.filter((n) => !letters.has(n))
      }
      const counts = await through(stage, size, undefined, {
        isExcused: isBad,
        isSettled: () => missingLetters().length === 0,
      })
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

/** @param {number} status */
const runEverything = (status) =>
  /** @type {Scenario['run']} */ (
    async (stage, size) => {
      const counts = await through(stage, size, () => misbehave(stage.server, { kind: 'status', status }, size.forMs))
      const deadLettered = stage.deadLetters().length
      const wrong =
        deadLettered > 0
          ? [...counts.wrong, `${deadLettered} dead letters, although every reply was ${status}`]
          : counts.wrong
      return stage.outcome({ ...counts, wrong, deadLettered })
    }
  )

/** Writes a page of zeros into the middle of each spool file, as after a power failure. @param {import('./stage.mjs').Stage} stage */
function damage({ spoolDir }) {
  const names = existsSync(spoolDir) ? readdirSync(spoolDir, { recursive: true }) : []
  const files = names
    .map((name) => join(spoolDir, String(name)))
    .filter((name) => statSync(name).isFile() && statSync(name).size > 2 * PAGE_BYTES)
  if (files.length === 0) throw new Error(`nothing to damage in ${spoolDir}`)
  for (const file of files) {
    const fd = openSync(file, 'r+')
    writeSync(fd, Buffer.alloc(PAGE_BYTES), 0, PAGE_BYTES, Math.floor(statSync(file).size / 2))
    closeSync(fd)
  }
}

const PAGE_BYTES = 4_096
const ENDING = { count: 5_000 }
const REJECTING = { count: 2_000, perSecond: 1_000 }
const FOR_A_WHILE = { count: 2_500, perSecond: 1_000, forMs: 1_200 }

const PADDED = { ...FOR_A_WHILE, padBytes: 4_000 }
/** For `npm test`. */
const QUICK = ['down', 'kill', 'lost-replies']

/** @type {readonly (readonly [key: string, name: string, run: Scenario['run'], size: object, limits?: Limits])[]} */
const ROWS = [
  ['down', 'service down', runDown, FOR_A_WHILE],
  ['429', '429 with Retry-After', runRetryAfter, FOR_A_WHILE],
  ['hang', 'hang', runMisbehaving({ kind: 'hang' }), FOR_A_WHILE],
  ['exit', 'process.exit after the last record, service down', runEnding('exit'), ENDING],
  ['natural', 'natural end, service down', runEnding('natural'), ENDING],
  ['throw', 'uncaught exception, service down', runEnding('throw'), ENDING],
  ['handled', 'SIGTERM with a handler, service down', runEnding('hold'), ENDING],
  // The damaged frames are lost.
  [
    'damaged',
    'a page of zeros in the middle of the spool',
    runEnding('exit'),
    { ...ENDING, between: damage },
    { lost: 100 },
  ],
  ['sigterm', 'SIGTERM without a handler', runSigterm, { count: 5_000, settleMs: 500 }, { lost: 9 }],
  ['kill', 'kill -9 at 1k/s', runKill, { count: 3_000, perSecond: 1_000, marginMs: 1_000 }, { lost: 9 }],
  ['rejected', '1 % rejected, the rest accepted', runRejecting('partly'), REJECTING],
  ['nameless', '1 bad entry fails its batch', runRejecting('nameless'), REJECTING],
  ['none-accepted', '1 % named by a result that accepted none', runRejecting('none'), REJECTING],
  ['lost-replies', 'replies lost', runMisbehaving({ kind: 'lost-reply' }), FOR_A_WHILE],
  // Long records, since a short body arrives in one piece.
  ['reset-in-request', 'reset in the request', runMisbehaving({ kind: 'reset-in-request' }), PADDED],
  ['reset-in-reply', 'reset in the reply', runMisbehaving({ kind: 'reset-in-reply' }), FOR_A_WHILE],
  ['gateway', 'a gateway says 400 to everything', runEverything(400), FOR_A_WHILE],
  ['wrong-key', '401 for a while', runEverything(401), FOR_A_WHILE],
]

/** @type {readonly Scenario[]} */
export const SCENARIOS = [
  ...ROWS.map(([key, name, perform, size, limits = {}]) => {
    return { key, name, run: perform, size, limits, isQuick: QUICK.includes(key) }
  }),
  STOPPED,
  KILLS,
]

/** @param {Scenario} scenario */
export async function run({ run: perform, size }) {
  const stage = new Stage()
  try {
    return await perform(stage, size)
  } finally {
    await stage.close()
  }
}

/** Requirements that pino-ingest missed. @param {Scenario} scenario @param {import('./stage.mjs').Outcome} outcome @returns {string[]} */
export function missed({ limits = {} }, outcome) {
  const { lost, duplicated, mayDuplicate = 0, early = 0, wrong } = outcome
  const { lost: mayLose = 0 } = limits
  return [
    ...(outcome.expected === 0 ? ['nothing was logged'] : []),
    ...(lost > mayLose ? [`${lost} of ${outcome.expected} lost`] : []),
    ...(duplicated > mayDuplicate ? [`${duplicated} duplicated, where ${mayDuplicate} were in flight`] : []),
    ...(early > 0 ? [`${early} requests before their Retry-After`] : []),
    ...wrong,
  ]
}
