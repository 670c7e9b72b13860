/** [main] Logs the error that ends the process, and lets Node exit. */
import { FLUSH_METHOD } from '../../transport/flush-message.js'
import { checkNames } from '../../options/known-names.js'
import { findRejectionMode } from '../../options/rejection-mode.js'
import { checkArgument, describeValue, readOptions, readTimeoutMs } from '../../shared/argument-checks.js'
import { IngestError } from '../../shared/errors.js'
import { flush } from '../lifecycle/flush.js'
import { findLoggerStreams } from '../logger/logger-streams.js'
import { logCaught } from './capture-error.js'
import type { ErrorLogger } from './capture-error.js'

/** A pino logger, or one of its children. */
export interface UncaughtLogger extends ErrorLogger {
  /** Logs a record at level fatal. */
  fatal(fields: object, message?: string): void
}

/** Options of `captureUncaught()`. */
export interface CaptureUncaughtOptions {
  /** Exit code of the process. Default: Node's own, 1. */
  readonly exitCode?: number
  /** Time limit in ms for the flush of an `ingestStream()`; a negative number means 0. Default 3000. With a worker pino flushes at the exit. */
  readonly timeoutMs?: number
}

interface Registration {
  readonly logger: UncaughtLogger
  readonly exitCode: number | undefined
  readonly timeoutMs: number
}

/** Shared by all calls, because the process ends only once. */
interface UncaughtState {
  readonly registrations: Set<Registration>
  stop: (() => void) | undefined
}

const OPTIONS = ['exitCode', 'timeoutMs']
const DEFAULT_TIMEOUT_MS = 3_000
const MAX_EXIT_CODE = 255
const UNCAUGHT_EVENT = 'uncaughtException'
const REJECTION_EVENT = 'unhandledRejection'

/** Global, since both builds of this package may be loaded. */
const UNCAUGHT = Symbol.for('pino-ingest.uncaught')

/**
 * Logs uncaught exceptions and unhandled rejections at level fatal, as `captureError()` does: with an `event_id`, and the breadcrumbs of the
 * scope in which they were thrown. Then Node ends the process, with its own output on stderr. If the application listens to
 * `uncaughtException` or `unhandledRejection`, its listeners decide whether the process exits, and this only logs.
 *
 * A worker receives everything by pino's flush at the exit. For an `ingestStream()` the process continues for at most `timeoutMs` until the
 * entries are delivered, and then throws the error again.
 *
 * Node's option `--unhandled-rejections` applies: with `warn` and `none` a rejection is logged, and the process continues. With
 * `warn-with-error-code` it is logged only if the application listens, since a listener would change the exit code.
 *
 * @returns a function that removes the listeners
 * @throws IngestError `CONFIG` if `logger` has no log methods, `exitCode` is not an integer from 0 to 255, `timeoutMs` is not a number, and
 * for an unknown option.
 */
export function captureUncaught(logger: UncaughtLogger, options: CaptureUncaughtOptions = {}): () => void {
  const isLogger = typeof (logger as Partial<ErrorLogger> | null | undefined)?.error === 'function'
  checkArgument('the logger of captureUncaught()', 'a pino logger', isLogger, logger)
  const { exitCode, timeoutMs: given = DEFAULT_TIMEOUT_MS, ...others } = readOptions('captureUncaught()', options)
  checkNames('captureUncaught()', others, OPTIONS)
  const timeoutMs = readTimeoutMs('timeoutMs of captureUncaught()', given)
  const isCode = exitCode === undefined || (Number.isInteger(exitCode) && exitCode >= 0 && exitCode <= MAX_EXIT_CODE)
  if (!isCode)
    throw new IngestError(
      'CONFIG',
      `exitCode of captureUncaught() must be an integer from 0 to ${MAX_EXIT_CODE}, got ${describeValue(exitCode)}`,
    )
  const state = ((globalThis as { [UNCAUGHT]?: UncaughtState })[UNCAUGHT] ??= {
    registrations: new Set(),
    stop: undefined,
  })
  const registration = { logger, exitCode, timeoutMs }
  state.registrations.add(registration)
  state.stop ??= listen(state.registrations)
  return () => {
    state.registrations.delete(registration)
    if (state.registrations.size > 0) return
    state.stop?.()
    state.stop = undefined
  }
}

/** @returns a function that removes the listeners */
function listen(registrations: ReadonlySet<Registration>): () => void {
  /** Error logged in this turn, since a listener of the application may throw the reason that it received. */
  let logged: { readonly error: unknown } | undefined
  let logCount = 0
  let isFlushing = false
  let isRethrown = false

  const log = (error: unknown, origin: string): void => {
    if (logged !== undefined && Object.is(logged.error, error)) return
    logged = { error }
    setImmediate(() => (logged = undefined)).unref()
    logCount += 1
    for (const logger of new Set([...registrations].map((one) => one.logger)))
      logCaught(logger, typeof logger.fatal === 'function' ? 'fatal' : 'error', error, { origin })
  }

  // Node emits this event first, regardless of other handlers, and a listener does not change the outcome.
  const onMonitor = (thrown: unknown, origin: string): void => {
    if (isRethrown) return
    log(thrown, origin)
    if (process.listenerCount(UNCAUGHT_EVENT) > 0 || process.hasUncaughtExceptionCaptureCallback()) return
    const all = [...registrations]
    const exitCode = all.find((one) => one.exitCode !== undefined)?.exitCode
    const inProcess = all.filter(({ logger }) => findLoggerStreams(logger).some((stream) => FLUSH_METHOD in stream))
    // Before the application's own listeners, which may read it.
    if (!isFlushing && exitCode !== undefined) process.prependOnceListener('exit', () => (process.exitCode = exitCode))
    if (inProcess.length === 0) return
    // Only for this error, because a permanent listener would change the behavior of other libraries.
    process.once(UNCAUGHT_EVENT, () => {
      // With `strict`, Node continues as if the rejection were not handled yet, and would warn.
      if (origin === REJECTION_EVENT && findRejectionMode() === 'strict') process.once(REJECTION_EVENT, () => {})
      if (isFlushing) return
      isFlushing = true
      process.exitCode = exitCode ?? 1 // the application may call process.exit() before the flush has ended
      void flushAll(inProcess, () => logCount).then(() => {
        isRethrown = true
        // Not in the promise, where Node would report it as a rejection.
        setImmediate(() => {
          throw thrown
        })
      })
    })
  }
  const onRejection = (reason: unknown): void => log(reason, REJECTION_EVENT)
  process.on('uncaughtExceptionMonitor', onMonitor)
  const unfollow = followRejections(onRejection)
  return () => {
    process.off('uncaughtExceptionMonitor', onMonitor)
    unfollow()
  }
}

/** Flushes again if another error was logged in the meantime. Never rejects. */
async function flushAll(registrations: readonly Registration[], logCount: () => number): Promise<void> {
  const timeoutMs = Math.max(...registrations.map((one) => one.timeoutMs))
  const deadline = performance.now() + timeoutMs
  let timer: NodeJS.Timeout | undefined
  // Not unref'd: this timer keeps the process alive.
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeoutMs)))
  for (let flushed = -1; flushed !== logCount() && performance.now() < deadline;) {
    flushed = logCount()
    const left = deadline - performance.now()
    const flushes = registrations.map(({ logger }) => flush(logger, { timeoutMs: left }))
    await Promise.race([Promise.allSettled(flushes), timeout])
  }
  clearTimeout(timer)
}

/**
 * Calls `listener` for rejections that do not reach the monitor. If a listener would mark the rejection as handled, it
 * listens only while the application does.
 */
function followRejections(listener: (reason: unknown) => void): () => void {
  const mode = findRejectionMode()
  if (mode === 'strict') return () => {} // all rejections reach the monitor
  if (mode === 'warn' || mode === 'none') {
    process.on(REJECTION_EVENT, listener)
    return () => void process.off(REJECTION_EVENT, listener)
  }
  const hasOthers = (): boolean => process.listeners(REJECTION_EVENT).some((one) => one !== listener)
  let isListening = false
  const start = (): void => {
    if (isListening) return
    isListening = true
    process.on(REJECTION_EVENT, listener)
  }
  const stop = (): void => {
    isListening = false
    process.off(REJECTION_EVENT, listener)
  }
  const onNew = (event: string | symbol): void => {
    if (event === REJECTION_EVENT) start()
  }
  const onRemoved = (event: string | symbol): void => {
    if (event === REJECTION_EVENT && isListening && !hasOthers()) stop()
  }
  if (hasOthers()) start()
  process.on('newListener', onNew)
  process.on('removeListener', onRemoved)
  return () => {
    process.off('newListener', onNew)
    process.off('removeListener', onRemoved)
    stop()
  }
}
