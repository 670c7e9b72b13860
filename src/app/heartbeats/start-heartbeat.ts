/** [main] Heartbeats of long-running work. */
import { MAX_TIMER_MS, backgroundClock } from '../../shared/clock.js'
import type { Clock } from '../../shared/clock.js'
import { describeType, readOptions } from '../../shared/argument-checks.js'
import { IngestError, toMessage } from '../../shared/errors.js'
import { Throttle } from '../../diagnostics/throttle.js'
import { Pinger, checkHelperLogger, report } from './pinger.js'
import type { HelperLogger, PingOptions } from './pinger.js'

/** Options of `startHeartbeat()`: those of `IngestClient`, the monitor's name, the interval and a logger. */
export type StartHeartbeatOptions = PingOptions & {
  /** Milliseconds, at least 1000: the interval that the monitor expects, or less. */
  everyMs: number
  /** A pino logger: gets failed pings at level warn, at most one line a minute. Without it they are reported on stderr. */
  logger?: HelperLogger | undefined
}

const MIN_EVERY_MS = 1_000
const REPORT_WINDOW_MS = 60_000

/** Failed pings since the last line. */
interface Failures {
  readonly count: number
  readonly error: unknown
}

/**
 * Pings a monitor now and every `everyMs`, until it is stopped. Only a request in progress keeps the process alive. After the start it
 * never throws. No ping is sent while another is in progress. Outside production, without a URL, the pings are discarded.
 *
 * @param token any text except the empty text, `.` and `..`; never shown in a message
 * @returns a function that stops it and aborts a ping in progress
 * @throws IngestError `INVALID` for the token or the name, `CONFIG` for the options.
 */
export function startHeartbeat(token: string, options: StartHeartbeatOptions): () => Promise<void> {
  return startHeartbeatWithClock(backgroundClock, token, options)
}

/** @param clock its timers must not keep the process alive */
export function startHeartbeatWithClock(
  clock: Clock,
  token: string,
  options: StartHeartbeatOptions,
): () => Promise<void> {
  const { everyMs, logger, ...pingOptions } = readOptions('startHeartbeat()', options)
  checkHelperLogger('startHeartbeat()', logger)
  if (everyMs === undefined || !Number.isSafeInteger(everyMs) || everyMs < MIN_EVERY_MS || everyMs > MAX_TIMER_MS) {
    throw new IngestError(
      'CONFIG',
      `everyMs must be an integer from ${MIN_EVERY_MS} to ${MAX_TIMER_MS} (ms), got ${typeof everyMs === 'number' ? everyMs : describeType(everyMs)}`,
    )
  }
  const pinger = new Pinger(token, pingOptions, clock)
  const failures = new Throttle<Failures>(
    clock,
    REPORT_WINDOW_MS,
    (pending, next) => ({ count: pending.count + next.count, error: next.error }),
    ({ count, error }) => {
      const what = count === 1 ? 'a heartbeat' : `${count} heartbeats`
      report(logger, 'warn', { err: error }, `${what} failed: ${toMessage(error)}`)
    },
  )
  let isStopped = false
  let isPinging = false
  let cancel = (): void => {}
  const ping = async (): Promise<void> => {
    isPinging = true
    try {
      await pinger.ping()
    } catch (error) {
      if (!isStopped) failures.offer({ count: 1, error })
    } finally {
      isPinging = false
    }
  }
  const beat = (): void => {
    cancel = clock.timer(everyMs, beat)
    if (!isPinging) void ping()
  }
  beat()
  return async () => {
    isStopped = true
    cancel()
    failures.flushNow()
    await pinger.close()
  }
}
