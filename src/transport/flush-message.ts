/** Messages between main thread and worker for `flush(logger)`. pino forwards a worker's `EVENT`, and ignores unknown messages. */
import type { AccountSnapshot } from '../diagnostics/account.js'

/**
 * - `acknowledged`: the service has accepted or rejected all entries that were logged before
 * - `spooled`: they are on disk, and the service has not answered for all of them, whether it is slow or down. Resolved at the
 *   timeout; earlier after one more failed attempt if an outage is longer than the request timeout, and at once if a Retry-After
 *   exceeds the remaining time
 * - `timeout`: the time is over, and some are only in memory, or the worker did not answer
 */
export type FlushState = 'acknowledged' | 'spooled' | 'timeout'

/** Result of `flush()`. */
export interface FlushResult {
  /** What became of the entries that were logged before. */
  readonly state: FlushState
  /** Of the transport, or the sum of several; undefined if no reply was received. */
  readonly account?: AccountSnapshot
}

/**
 * To the worker. `read`: the worker has read all records logged before the flush; some versions of pino send this
 * message themselves. `end`: the time is over, and the worker replies at once.
 */
export interface FlushRequest {
  readonly code: 'PINO_INGEST_FLUSH'
  readonly step: 'begin' | 'read' | 'end'
  readonly id: string
  /** Milliseconds until the worker must reply. A duration, because a test may mock the clock of the application's thread. */
  readonly leftMs: number
}

export const FLUSHED_EVENT = 'ingest:flushed'

/** From the worker, as the payload of `FLUSHED_EVENT`. */
export interface FlushReply extends FlushResult {
  readonly id: string
}

/** Method of a stream in the application's thread. A global symbol, since both builds of this package may be loaded. */
export const FLUSH_METHOD: unique symbol = Symbol.for('pino-ingest.flush') as never

export interface Flushable {
  [FLUSH_METHOD](timeoutMs: number): Promise<FlushResult>
}

/** The combined result: the least complete state, and the sum of the accounts. */
export function mergeFlushResults(results: readonly FlushResult[]): FlushResult {
  const state =
    (['timeout', 'spooled'] as const).find((one) => results.some((result) => result.state === one)) ?? 'acknowledged'
  const accounts = results.map(({ account }) => account).filter((account) => account !== undefined)
  const [first, ...others] = accounts
  return first === undefined ? { state } : { state, account: others.reduce(addAccounts, first) }
}

export function addAccounts(a: AccountSnapshot, b: AccountSnapshot): AccountSnapshot {
  const requestLogs =
    a.requestLogs !== undefined && b.requestLogs !== undefined
      ? addAccounts(a.requestLogs, b.requestLogs)
      : (a.requestLogs ?? b.requestLogs)
  const reasons = Object.keys(a.dropped) as (keyof AccountSnapshot['dropped'])[]
  return {
    received: a.received + b.received,
    recovered: a.recovered + b.recovered,
    generated: a.generated + b.generated,
    accepted: a.accepted + b.accepted,
    rejected: a.rejected + b.rejected,
    filtered: a.filtered + b.filtered,
    pending: a.pending + b.pending,
    dropped: Object.fromEntries(
      reasons.map((reason) => [reason, a.dropped[reason] + b.dropped[reason]]),
    ) as AccountSnapshot['dropped'],
    balances: a.balances && b.balances,
    ...(requestLogs !== undefined && { requestLogs }),
  }
}
