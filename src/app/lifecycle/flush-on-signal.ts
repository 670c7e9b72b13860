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

/** One call of `flushOnSignal()`. */
interface Registration {
  readonly signals: readonly NodeJS.Signals[]
  readonly exit: boolean | undefined
  /** Never rejects. */
  readonly flush: () => Promise<unknown>
}

/** Shared by all calls, because the process ends only once, after the last flush. */
interface SignalRegistry {
  readonly registrations: Set<Registration>
  /** The only listener for each signal. */
  readonly onSignal: (signal: NodeJS.Signals) => void
}

const DEFAULT_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']
const DEFAULT_TIMEOUT_MS = 3_000
/** Added to the number of the signal. */
const SIGNAL_EXIT_CODE = 128

/** Global, since both builds of this package may be loaded. */
const REGISTRY = Symbol.for('pino-ingest.signal-registry')

/**
 * Flushes before a signal ends the process. Without a handler a signal ends Node at once, without the `exit` event that
 * pino needs. If the app handles the signal itself, its handler decides when to exit, and this only flushes. If the handler
 * removes itself and sends the signal again, as NestJS does, this flushes the records logged since, and then ends the process. Listeners
 * of the package `signal-exit` do not count: they wait for others to end the process.
 *
 * The exit code is 128 plus the signal's number. Another signal during the flush that precedes the exit ends the process without waiting
 * for it; pino's worker still has its `shutdownTimeoutMs`, which a third signal cuts short.
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
  const { registrations, onSignal } = ((globalThis as { [REGISTRY]?: SignalRegistry })[REGISTRY] ??= createRegistry())
  const registration: Registration = {
    signals,
    exit,
    flush: () => Promise.allSettled(all.map((logger) => flush(logger, { timeoutMs }))),
  }
  registrations.add(registration)
  // Prepended: Node removes a `once` listener before calling it, and the application's listener would not be found.
  for (const signal of signals)
    if (!process.listeners(signal).includes(onSignal)) process.prependListener(signal, onSignal)
  return () => {
    registrations.delete(registration)
    for (const signal of signals) if (findBySignal(registrations, signal).length === 0) process.off(signal, onSignal)
  }
}

function createRegistry(): SignalRegistry {
  const all = new Set<Registration>()
  let isEnding = false
  const onSignal = (signal: NodeJS.Signals): void => {
    const registrations = findBySignal(all, signal)
    const isHandled = hasOtherListeners(signal, onSignal)
    const endsProcess = registrations.some(({ exit }) => exit ?? !isHandled)
    const end = (): void => {
      // pino's exit hook blocks this thread. Without a listener, another signal ends the process immediately.
      for (const { signals } of all) for (const one of signals) process.off(one, onSignal)
      process.exit(SIGNAL_EXIT_CODE + (constants.signals[signal] ?? 0))
    }
    if (endsProcess && isEnding) return end()
    isEnding ||= endsProcess
    const flushed = Promise.all(registrations.map((registration) => registration.flush()))
    if (endsProcess) void flushed.then(end)
  }
  return { registrations: all, onSignal }
}

function findBySignal(all: ReadonlySet<Registration>, signal: NodeJS.Signals): readonly Registration[] {
  return [...all].filter(({ signals }) => signals.includes(signal))
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

function hasOtherListeners(signal: NodeJS.Signals, ours: SignalRegistry['onSignal']): boolean {
  const others = process.listeners(signal).filter((listener) => listener !== ours)
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
