/** Starts applications and reads their reports: the progress over time, also for killed applications. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { nowMs } from './monotonic.mjs'

/**
 * @typedef {object} Plan
 * @property {string} target the transport, by name or path
 * @property {object} options of the transport
 * @property {string} progress file for the progress over time
 * @property {number} count number of records
 * @property {number} [first] number of the first record; default 0
 * @property {number} [perSecond] default: as fast as possible, yielding every 100 records
 * @property {number} [padBytes] makes records longer
 * @property {number} [settleMs] time between the worker's reading of the last record and the end
 * @property {boolean} [watchHeap] measures the main thread's memory every 100 ms
 * @property {boolean} [awaitReady] starts to log when the worker has loaded the transport
 * @property {'natural' | 'exit' | 'throw' | 'hold' | 'none'} [end] `hold` waits for SIGTERM and handles it, `none` waits and does not
 */

/** @typedef {{ name: string, payload: any, at: number }} AppEvent */
/** @typedef {{ n: number, at: number, read: number }} Progress all up to `n` was logged at `at`, all up to `read` had been read by the worker */
/**
 * @typedef {object} AppResult
 * @property {number | null} code
 * @property {string | null} signal
 */

const APP = fileURLToPath(new URL('app.mjs', import.meta.url))
const SAMPLE_MS = 50
/** Limit of the captured stderr. */
const MAX_STDERR_CHARS = 100_000

export class App {
  /** @type {AppEvent[]} */
  events = []
  /** Resolves when it has ended and its reports were read. @type {Promise<AppResult>} */
  done
  /** Peak memory of the process, from the kernel; for a killed process the last reading. */
  peakRssKb = 0
  stderr = ''
  #child
  #plan
  #waiters = new Set()

  /** @param {Plan} plan @param {Record<string, string>} env */
  constructor(plan, env) {
    this.#plan = plan
    const flags = plan.watchHeap === true ? ['--expose-gc'] : []
    const child = (this.#child = spawn(process.execPath, [...flags, APP], {
      env: { ...ownEnv(), ...env, PLAN: JSON.stringify(plan) },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    }))
    child.stderr?.on('data', (chunk) => {
      if (this.stderr.length < MAX_STDERR_CHARS) this.stderr += chunk
    })
    this.#readEvents(/** @type {import('node:stream').Readable} */ (child.stdio[3]))
    const sampling = setInterval(() => this.#sample(), SAMPLE_MS)
    this.done = new Promise((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, signal) => {
        clearInterval(sampling)
        this.#wake()
        resolve({ code, signal })
      })
    })
  }

  get isRunning() {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** @param {NodeJS.Signals} signal @returns {number} when */
  kill(signal) {
    const at = nowMs()
    this.#child.kill(signal)
    return at
  }

  /** @param {string} name @returns {AppEvent | undefined} */
  last(name) {
    return this.events.findLast((event) => event.name === name)
  }

  /** The first event with this name; undefined if the application ends without it. @param {string} name @returns {Promise<AppEvent | undefined>} */
  async event(name) {
    for (;;) {
      const found = this.events.find((event) => event.name === name)
      if (found !== undefined || !this.isRunning) return found
      await new Promise((resolve) => this.#waiters.add(resolve))
    }
  }

  /** Number of the last record that was definitely logged at `atMs`, or one less than the first. @param {number} [atMs] */
  loggedAt(atMs = Infinity) {
    return this.progress().findLast(({ at }) => at <= atMs)?.n ?? (this.#plan.first ?? 0) - 1
  }

  /** Number of the last record that its worker had definitely read at `atMs`, or one less than the first. @param {number} atMs */
  readAt(atMs) {
    return this.progress().findLast(({ at }) => at <= atMs)?.read ?? (this.#plan.first ?? 0) - 1
  }

  /** @returns {Progress[]} */
  progress() {
    const lines = readFileSync(this.#plan.progress, 'utf8').split('\n').slice(0, -1)
    return lines.map((line) => line.split(' ').map(Number)).map(([n = NaN, at = NaN, read = NaN]) => ({ n, at, read }))
  }

  /** @param {import('node:stream').Readable} pipe */
  #readEvents(pipe) {
    let rest = ''
    pipe.setEncoding('utf8')
    pipe.on('data', (chunk) => {
      const lines = `${rest}${chunk}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        const event = JSON.parse(line)
        if (event.name === 'exit') this.peakRssKb = Math.max(this.peakRssKb, event.payload.peakRssKb)
        this.events.push(event)
      }
      this.#wake()
    })
  }

  #wake() {
    for (const resolve of this.#waiters) resolve()
    this.#waiters.clear()
  }

  #sample() {
    try {
      this.peakRssKb = Math.max(
        this.peakRssKb,
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))?.[1] ?? 0),
      )
    } catch {
      // It has just ended, or the system has no /proc. Then only the `exit` event has the value.
    }
  }
}

/** Without variables of the shell that configure a transport. */
function ownEnv() {
  return Object.fromEntries(
    Object.entries(process.env).filter(
      ([name]) =>
        !/^(?:PINO_INGEST_|npm_|NODE_ENV$|NODE_OPTIONS$|VITEST|OTEL_|DD_|HTTPS?_PROXY$|https?_proxy$|GITHUB_|CI$)/.test(
          name,
        ),
    ),
  )
}
