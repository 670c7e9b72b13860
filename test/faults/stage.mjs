/** Resources of one run of a scenario: a server, a folder for spool and progress, and the started applications. */
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FaultServer } from './fault-server.mjs'
import { nowMs } from './monotonic.mjs'
import { App } from './run-app.mjs'

const KEY = 'faults-key-3fd1'
/** Time of a reply from the server to the application's acknowledgement log on a busy machine. Until then its request counts as in flight. */
const REPLY_GRACE_MS = 2_000
/** After this time without an arrival, no more are expected. Long, so that only missing records exceed it. */
const IDLE_MS = 40_000
/** Number of the first record that the next start logs. */
const LIVE_FROM = 10_000_000
/** The maximum, since the default of 3 s may be too short while other tests run. */
const SHUTDOWN_MS = 8_000

/**
 * @typedef {object} Outcome
 * @property {number} expected records that must be stored or become dead letters
 * @property {number} lost lost records of these
 * @property {number} duplicated copies beyond the first
 * @property {number} [mayDuplicate] number of entries in flight, which may arrive twice; default 0
 * @property {number} [deadLettered] in the dead letters
 * @property {number} [early] requests before a Retry-After had passed
 * @property {readonly string[]} [notes]
 * @property {readonly string[]} wrong violations by the client, and failures visible to the application
 */

export class Stage {
  server = new FaultServer(KEY, REPLY_GRACE_MS)
  folder = mkdtempSync(join(tmpdir(), 'pino-ingest-faults-'))
  /** @type {App[]} */
  apps = []

  /** Root of the spool. */
  spoolDir = join(this.folder, 'spool')

  /**
   * @param {Omit<import('./run-app.mjs').Plan, 'target' | 'options' | 'progress'>} plan
   * @param {object} [more] options
   */
  start(plan, more = {}) {
    const app = new App(
      {
        target: 'pino-ingest',
        options: { url: `${this.server.origin}/api/v1`, apiKey: KEY, shutdownTimeoutMs: SHUTDOWN_MS, ...more },
        progress: join(this.folder, `progress-${this.apps.length}`),
        ...plan,
      },
      { PINO_INGEST_SPOOL_DIR: this.spoolDir },
    )
    this.apps.push(app)
    return app
  }

  /**
   * Runs an application that logs nothing. Ends it when all `expected` records have arrived, or after 40 s without an arrival.
   * @param {Iterable<number>} expected
   * @param {() => boolean} [isSettled] another condition to wait for
   */
  async nextStart(expected, isSettled = () => true) {
    const missing = new Set(expected)
    // Some refused entries become dead letters only when others are accepted.
    const live = isSettled() ? { count: 0 } : { first: LIVE_FROM, count: 400, perSecond: 2 }
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

  /** @param {Omit<Outcome, 'duplicated' | 'wrong'> & { wrong?: readonly string[] }} counts @returns {Outcome} */
  outcome(counts) {
    const events = this.apps.flatMap((app) => app.events)
    const errors = events.filter(({ name }) => name === 'error').map(({ payload }) => `an error event: ${payload}`)
    const accounts = events.filter(({ name, payload }) => name === 'ingest:stats' && !payload.balances)
    const idle = this.apps.filter((app) => app.last('started') === undefined)
    return {
      ...counts,
      duplicated: this.duplicated,
      wrong: [
        ...this.server.violations,
        ...(counts.wrong ?? []),
        ...errors,
        ...accounts.slice(0, 1).map(({ payload }) => `an account that does not balance: ${JSON.stringify(payload)}`),
        ...idle.map(({ stderr }) => `an application did not start: ${stderr.slice(0, 500)}`),
      ],
    }
  }

  async close() {
    for (const app of this.apps) if (app.isRunning) app.kill('SIGKILL')
    await Promise.all(this.apps.map(({ done }) => done))
    await this.server.down()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** @param {number} from @param {number} until exclusive @returns {number[]} */
export function range(from, until) {
  return Array.from({ length: Math.max(0, until - from) }, (_, index) => from + index)
}
