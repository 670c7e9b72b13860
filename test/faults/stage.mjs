/** Resources of one run of a scenario: a server, a folder for spool and progress, and the started applications. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FaultServer } from './fault-server.mjs'
import { nowMs } from './monotonic.mjs'
import { App } from './run-app.mjs'

const KEY = 'faults-key-3fd1'
/** Time of a reply from the server to the application's acknowledgement log. Until then its request counts as in flight. */
const REPLY_GRACE_MS = 50
const BUSY_REPLY_GRACE_MS = 250
/** After this time without an arrival, no more are expected. */
const IDLE_MS = 8_000
/** Number of the first record that the next start logs. */
const LIVE_FROM = 10_000_000
/** The maximum, since the default of 3 s may be too short while other tests run. */
const QUICK_SHUTDOWN_MS = 8_000

/** @type {import('./peers.mjs').Subject} */
export const OURS = {
  name: 'pino-ingest',
  version: undefined,
  target: 'pino-ingest',
  configure: (origin) => ({ options: { url: `${origin}/api/v1`, apiKey: KEY } }),
}

/**
 * @typedef {object} Outcome
 * @property {number} expected records that must be stored or become dead letters
 * @property {number} lost lost records of these
 * @property {true} [isMeasure] the scenario measures something other than loss
 * @property {number} duplicated copies beyond the first
 * @property {number} [lostAtExit] before the next start
 * @property {boolean} [hasEndedBefore] the application ended before the fault did
 * @property {number} [mayDuplicate] number of entries in flight, which may arrive twice; default 0
 * @property {number} [deadLettered] in the dead letters
 * @property {number} [early] requests before a Retry-After had passed
 * @property {number} peakRssMib
 * @property {any} [account] last account of the first application
 * @property {any} [nextAccount] last account of the last application, if there were several
 * @property {readonly string[]} [notes]
 * @property {readonly string[]} wrong violations by the client, and failures visible to the application
 */

export class Stage {
  server
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-faults-'))
  /** Folder of the spool; a scenario may mount a file system here. */
  disk = this.folder
  /** Cleanups that run after the last application has ended. */
  beforeRemoval = () => {}
  /** @type {App[]} */
  apps = []
  #subject
  #size

  /**
   * @param {import('./peers.mjs').Subject} subject
   * @param {'full' | 'quick'} size quick runs share the machine with other tests and are slower
   */
  constructor(subject, size) {
    this.#subject = subject
    this.#size = size
    const replyGraceMs = size === 'quick' ? BUSY_REPLY_GRACE_MS : REPLY_GRACE_MS
    this.server = new FaultServer({ subject: subject.name, replyGraceMs, ...(this.isOurs && { key: KEY }) })
  }

  get isOurs() {
    return this.#subject.name === OURS.name
  }

  /** Root of the spool. Its parent exists. */
  get spoolDir() {
    return join(this.disk, 'spool')
  }

  /**
   * @param {Omit<import('./run-app.mjs').Plan, 'target' | 'options' | 'progress'>} plan
   * @param {object} [more] options for pino-ingest only
   * @param {{ env?: Record<string, string>, within?: readonly string[] }} [around] the process
   */
  start(plan, more = {}, around = {}) {
    const { options, env } = this.#subject.configure(this.server.origin)
    const patience = this.#size === 'quick' ? { shutdownTimeoutMs: QUICK_SHUTDOWN_MS } : {}
    const app = new App(
      {
        target: this.#subject.target,
        options: this.isOurs ? { ...options, ...patience, ...more } : options,
        progress: join(this.folder, `progress-${this.apps.length}`),
        ...plan,
      },
      { ...env, PINO_INGEST_SPOOL_DIR: this.spoolDir, ...around.env },
      around.within,
    )
    this.apps.push(app)
    return app
  }

  /**
   * Runs an application that logs nothing. Ends it when all `expected` records have arrived, or after 8 s without an arrival.
   * @param {Iterable<number>} expected
   * @param {() => boolean} [isSettled] another condition to wait for
   */
  async nextStart(expected, isSettled = () => true) {
    const missing = new Set(expected)
    // Some refused entries become dead letters only when others are accepted.
    const live = isSettled() ? { count: 0 } : { first: LIVE_FROM, count: 40, perSecond: 2 }
    const app = this.start({ ...live, end: 'hold' })
    // On a busy machine the worker may need longer than `IDLE_MS` to start. Ended before, it would leave entries on disk.
    await app.event('ready')
    let seen = -1
    let seenAt = nowMs()
    for (;;) {
      for (const n of missing) if (this.server.stored.has(n)) missing.delete(n)
      if ((missing.size === 0 && isSettled()) || !app.isRunning || nowMs() - seenAt > IDLE_MS) break
      if (this.server.entriesSeen !== seen) {
        seen = this.server.entriesSeen
        seenAt = nowMs()
      }
      await sleep(50)
    }
    // Time for duplicates to arrive.
    await sleep(300)
    app.kill('SIGTERM')
    await app.done
    return app
  }

  /** Records that are neither stored nor excused. @param {Iterable<number>} expected @param {(n: number) => boolean} [isExcused] */
  lost(expected, isExcused = () => false) {
    return Array.from(expected).filter((n) => !this.server.stored.has(n) && !isExcused(n))
  }

  get duplicated() {
    return [...this.server.stored.values()].reduce((copies, times) => copies + times - 1, 0)
  }

  /** Record numbers in the dead letters, one per line. */
  deadLetters() {
    const files = existsSync(this.spoolDir) ? readdirSync(this.spoolDir, { recursive: true }) : []
    return files
      .map(String)
      .filter((name) => /(?:^|\/)dead\/[^/]*\.ndjson$/.test(name))
      .flatMap((name) => readFileSync(join(this.spoolDir, name), 'utf8').split('\n').slice(0, -1))
      .map((line) => Number(/n=(\d+);/.exec(line)?.[1] ?? -1))
  }

  /** @param {Omit<Outcome, 'duplicated' | 'peakRssMib' | 'wrong' | 'account' | 'nextAccount'> & { wrong?: readonly string[] }} counts @returns {Outcome} */
  outcome(counts) {
    const stats = this.apps.flatMap(({ events }) =>
      events.filter(({ name }) => name === 'ingest:stats').map(({ payload }) => payload),
    )
    const account = this.apps[0]?.last('ingest:stats')?.payload
    const nextAccount = this.apps.length < 2 ? undefined : this.apps.at(-1)?.last('ingest:stats')?.payload
    const wrong = [...this.server.violations, ...(counts.wrong ?? [])]
    if (this.isOurs) {
      for (const { events } of this.apps) {
        wrong.push(...events.filter(({ name }) => name === 'error').map(({ payload }) => `an error event: ${payload}`))
      }
      wrong.push(
        ...this.apps
          .filter((app) => app.last('started') === undefined)
          .map((app) => `an application did not start: ${app.stderr.slice(0, 500)}`),
      )
      const open = stats.find(({ balances }) => !balances)
      if (open !== undefined) wrong.push(`an account that does not close: ${JSON.stringify(open)}`)
    }
    const peakRssMib = Math.round(Math.max(0, ...this.apps.map(({ peakRssKb }) => peakRssKb)) / 1024)
    return {
      ...counts,
      duplicated: this.duplicated,
      peakRssMib,
      wrong,
      ...(account !== undefined && { account }),
      ...(nextAccount !== undefined && { nextAccount }),
    }
  }

  async close() {
    for (const app of this.apps) if (app.isRunning) app.kill('SIGKILL')
    await Promise.all(this.apps.map(({ done }) => done))
    await this.server.down()
    this.beforeRemoval()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** @param {number} from @param {number} until exclusive @returns {number[]} */
export function range(from, until) {
  return Array.from({ length: Math.max(0, until - from) }, (_, index) => from + index)
}
