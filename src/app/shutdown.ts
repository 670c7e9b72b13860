/** [main] A signal ends a process at once, with what pino and its worker hold: here it ends in order. */
import { constants } from 'node:os'
import { flush } from './flush.js'

export interface FlushOnSignalOptions {
  /** Default SIGTERM and SIGINT. */
  readonly signals?: readonly NodeJS.Signals[]
  /** Milliseconds that a flush of the loggers given may take. Default 3000. */
  readonly timeoutMs?: number
}

const DEFAULT_SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT']
const DEFAULT_TIMEOUT_MS = 3_000
/** A process that a signal ended says so by its exit code. */
const SIGNAL_EXIT_CODE = 128

/**
 * Lets what was logged out before a signal ends the process. Without a handler a signal ends Node at once, and no `exit`
 * event tells pino of it. Where the app handles the signal itself, its handler decides when to exit, and this only flushes.
 *
 * The exit code is 128 and the signal's number. A second signal ends the process at once.
 *
 * @param loggers to be flushed before the exit; pino's worker transports are drained at the exit in any case
 * @returns a function that undoes it
 */
export function flushOnSignal(loggers: object | readonly object[] = [], { signals = DEFAULT_SIGNALS, timeoutMs = DEFAULT_TIMEOUT_MS }: FlushOnSignalOptions = {}): () => void {
  const all = [loggers].flat() as object[]
  const onSignal = (signal: NodeJS.Signals): void => {
    undo()
    // The app's own handler does what it wants to; ours must not end the process under it.
    const isOurs = process.listenerCount(signal) === 0
    const exit = (): void => {
      if (isOurs) process.exit(SIGNAL_EXIT_CODE + (constants.signals[signal] ?? 0))
    }
    if (all.length === 0) return exit()
    void Promise.all(all.map((logger) => flush(logger, { timeoutMs }))).then(exit)
  }
  const undo = (): void => {
    for (const signal of signals) process.off(signal, onSignal)
  }
  for (const signal of signals) process.on(signal, onSignal)
  return undo
}
