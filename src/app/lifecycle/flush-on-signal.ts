/** [main] Flushes loggers before a signal ends the process. */
import { constants } from 'node:os'
import { checkArgument, describeType, readOptions, readTimeoutMs } from '../../shared/argument-checks.js'
import { IngestError } from '../../shared/errors.js'
import { checkLogger, flush } from './flush.js'

/** Options of `flushOnSignal()`. */
export interface FlushOnSignalOptions {
  /** Default SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[]
  /** Milliseconds that the flush may take; a negative number means 0. Default 3000. */
  readonly timeoutMs?: number
  /**
   * Whether to end the process after the flush. Default: if there is no other listener when the signal arrives. Set `true`
   * if other listeners do not end the process, `false` if it ends in another way.
   */
  readonly exit?: boolean
}

type Listener = (signal: NodeJS.Signals) => void

/** Shared by all calls, because the process ends only once, after the last flush. */
interface ShutdownState {
  readonly listeners: Set<Listener>
  readonly undos: Set<() => void>
  flushing: number
  exitCode: number | undefined
}

const DEFAULT_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']
const DEFAULT_TIMEOUT_MS = 3_000
/** Added to the number of the signal. */
const SIGNAL_EXIT_CODE = 128

/** Global, since both builds of this package may be loaded. */
const SHUTDOWN = Symbol.for('pino-ingest.shutdown')

/**
 * Flushes before a signal ends the process. Without a handler a signal ends Node at once, without the `exit` event that
 * pino needs. If the app handles the signal itself, its handler decides when to exit, and this only flushes. Listeners of the package `signal-exit` do not count: they wait for others to end the process.
 *
 * The exit code is 128 plus the signal's number. A second signal without another handler ends the process without waiting
 * for the flush; pino's worker still has its `shutdownTimeoutMs`, which a third signal cuts short.
 *
 * @param loggers flushed before the exit; pino drains worker transports at the exit in any case
 * @returns a function that undoes it
 * @throws IngestError `CONFIG` for a logger that is not an object, a signal that a process cannot handle, an option of another type.
 */
export function flushOnSignal(
  loggers: object | readonly object[] = [],
  options: FlushOnSignalOptions = {},
): () => void {
  const {
    signals = DEFAULT_SIGNALS,
    timeoutMs: given = DEFAULT_TIMEOUT_MS,
    exit,
  } = readOptions('flushOnSignal()', options)
  const timeoutMs = readTimeoutMs('timeoutMs of flushOnSignal()', given)
  checkArgument('exit of flushOnSignal()', 'true or false', exit === undefined || typeof exit === 'boolean', exit)
  checkSignals(signals)
  const all = [loggers].flat() as object[]
  for (const logger of all) checkLogger('flushOnSignal()', logger)
  const shutdown = ((globalThis as { [SHUTDOWN]?: ShutdownState })[SHUTDOWN] ??= {
    listeners: new Set(),
    undos: new Set(),
    flushing: 0,
    exitCode: undefined,
  })
  const came = new Set<NodeJS.Signals>()
  let isFlushing = false
  const onSignal: Listener = (signal) => {
    const isOurs = exit ?? !isHandled(signal, shutdown.listeners)
    const code = SIGNAL_EXIT_CODE + (constants.signals[signal] ?? 0)
    if (isOurs && (isFlushing || came.has(signal))) return end(shutdown, code)
    came.add(signal)
    if (isOurs) shutdown.exitCode = code
    if (isFlushing) return
    isFlushing = true
    shutdown.flushing += 1
    void Promise.allSettled(all.map((logger) => flush(logger, { timeoutMs }))).then(() => {
      isFlushing = false
      shutdown.flushing -= 1
      if (shutdown.flushing === 0 && shutdown.exitCode !== undefined) end(shutdown, shutdown.exitCode)
    })
  }
  const undo = (): void => {
    for (const signal of signals) process.off(signal, onSignal)
    shutdown.listeners.delete(onSignal)
    shutdown.undos.delete(undo)
  }
  shutdown.listeners.add(onSignal)
  shutdown.undos.add(undo)
  // Prepended, because Node removes a `once` listener before calling it, and the application's listener would not be
  // found.
  for (const signal of signals) process.prependListener(signal, onSignal)
  return undo
}

/** Signals for which Node rejects listeners. */
const UNCATCHABLE: readonly unknown[] = ['SIGKILL', 'SIGSTOP']

function checkSignals(signals: unknown): void {
  checkArgument('signals of flushOnSignal()', "a list of signals, as ['SIGTERM']", Array.isArray(signals), signals)
  for (const signal of signals as unknown[])
    if (typeof signal !== 'string' || !Object.hasOwn(constants.signals, signal) || UNCATCHABLE.includes(signal))
      throw new IngestError(
        'CONFIG',
        `signals of flushOnSignal() must be signals that a process can handle, got ${typeof signal === 'string' ? JSON.stringify(signal) : describeType(signal)}`,
      )
}

function end({ undos }: ShutdownState, code: number): void {
  // pino's exit hook blocks this thread. Without a listener, another signal ends the process immediately.
  for (const undo of undos) undo()
  process.exit(code)
}

function isHandled(signal: NodeJS.Signals, ours: ReadonlySet<Listener>): boolean {
  const others = process.listeners(signal).filter((listener) => !ours.has(listener as Listener))
  return others.length > countSignalExitListeners(signal)
}

interface Counting {
  readonly count?: unknown
}

/** The signals that all versions of signal-exit listen to. */
const SIGNAL_EXIT_SIGNALS: readonly NodeJS.Signals[] = ['SIGHUP', 'SIGINT', 'SIGTERM']

/**
 * Number of listeners of the package signal-exit, which end the process only if there is no other listener. Its copies
 * share these counters (version 4, then 3).
 */
function countSignalExitListeners(signal: NodeJS.Signals): number {
  if (!SIGNAL_EXIT_SIGNALS.includes(signal)) return 0
  const emitters = [
    (globalThis as Record<symbol, unknown>)[Symbol.for('signal-exit emitter')],
    (process as unknown as Record<string, unknown>)['__signal_exit_emitter__'],
  ]
  return emitters.reduce<number>((sum, emitter) => {
    const count = (emitter as Counting | null | undefined)?.count
    return typeof count === 'number' ? sum + count : sum
  }, 0)
}
