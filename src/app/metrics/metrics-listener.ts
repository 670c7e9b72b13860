/** [main] Listens to the transports behind a logger and keeps the latest account of each. */
import { Account } from '../../diagnostics/account.js'
import type { AccountSnapshot } from '../../diagnostics/account.js'
import type { Clock } from '../../shared/clock.js'
import type { IngestErrorCode } from '../../shared/errors.js'
import { FLUSH_METHOD, addAccounts } from '../../transport/flush-message.js'
import type { MetricsState } from './metric-families.js'

/** The part of pino's stream to its worker, or of an in-process stream, that is used here. */
interface TransportStream {
  readonly destroyed?: boolean
  readonly closed?: boolean
  readonly writableEnded?: boolean
  on(event: string, listener: (this: TransportStream, payload: unknown, transport?: unknown) => void): void
  off(event: string, listener: (this: TransportStream, payload: unknown, transport?: unknown) => void): void
}

/** The listeners of a stream share one function for each event. */
const listenersByStream = new WeakMap<TransportStream, Set<MetricsListener>>()

/**
 * All codes; the compiler checks that none is missing. Another transport in the worker may emit other codes, which must not become labels.
 */
const CODES: Readonly<Record<IngestErrorCode, true>> = {
  CONFIG: true,
  INVALID: true,
  AUTH: true,
  REJECTED: true,
  RATE_LIMITED: true,
  UNAVAILABLE: true,
  MISDIRECTED: true,
  SPOOL: true,
  ABORTED: true,
}

const EMPTY_ACCOUNT: AccountSnapshot = new Account().snapshot()

export class MetricsListener {
  readonly #streams: readonly TransportStream[]
  readonly #clock: Clock
  /** By stream, then by transport id: several `targets` share a stream. Ended transports stay, so no sum decreases. */
  readonly #accounts = new Map<TransportStream, Map<unknown, AccountSnapshot>>()
  readonly #problems = new Map<IngestErrorCode, number>()
  #reportedAtMs: number | undefined

  /** @param streams as returned by `findIngestStreams` */
  constructor(streams: readonly object[], clock: Clock) {
    this.#streams = streams as readonly TransportStream[]
    this.#clock = clock
    for (const stream of this.#streams) {
      const sharing = listenersByStream.get(stream) ?? new Set()
      listenersByStream.set(stream, sharing.add(this))
      if (sharing.size > 1) continue
      stream.on('ingest:stats', onStats)
      stream.on('ingest:problem', onProblem)
    }
  }

  /** Sum of the accounts of all transports; undefined before the first. */
  get account(): AccountSnapshot | undefined {
    const [first, ...others] = [...this.#accounts.values()].flatMap((ofStream) => [...ofStream.values()])
    return first === undefined ? undefined : others.reduce(addAccounts, first)
  }

  get state(): MetricsState {
    return {
      account: this.account ?? EMPTY_ACCOUNT,
      reportedAtMs: this.#reportedAtMs,
      problems: this.#problems,
      closedStreams: this.#streams.filter((one) => this.#isOurs(one) && isClosed(one)).length,
    }
  }

  close(): void {
    for (const stream of this.#streams) {
      const sharing = listenersByStream.get(stream)
      if (sharing?.delete(this) !== true || sharing.size > 0) continue
      stream.off('ingest:stats', onStats)
      stream.off('ingest:problem', onProblem)
    }
  }

  /** Whether the worker runs this package's transport, which its events show. */
  #isOurs(stream: TransportStream): boolean {
    return FLUSH_METHOD in stream || this.#accounts.has(stream)
  }

  recordAccount(stream: TransportStream, payload: unknown, transport: unknown): void {
    if (!isAccount(payload)) return
    const ofStream = this.#accounts.get(stream) ?? new Map<unknown, AccountSnapshot>()
    this.#accounts.set(stream, ofStream.set(transport, payload))
    this.#reportedAtMs = this.#clock.wallNow()
  }

  countProblem(payload: unknown): void {
    const code = (payload as { code?: unknown } | null | undefined)?.code
    if (typeof code !== 'string' || !Object.hasOwn(CODES, code)) return
    this.#problems.set(code as IngestErrorCode, (this.#problems.get(code as IngestErrorCode) ?? 0) + 1)
  }
}

function onStats(this: TransportStream, payload: unknown, transport: unknown): void {
  listenersByStream.get(this)?.forEach((one) => one.recordAccount(this, payload, transport))
}

function onProblem(this: TransportStream, payload: unknown): void {
  listenersByStream.get(this)?.forEach((one) => one.countProblem(payload))
}

function isClosed({ destroyed, closed, writableEnded }: TransportStream): boolean {
  return destroyed === true || closed === true || writableEnded === true
}

/** Another transport in the same worker may emit an event of this name. */
function isAccount(payload: unknown): payload is AccountSnapshot {
  const { dropped, requestLogs, ...counts } = Object(payload) as Record<string, unknown>
  const hasNumbers = (value: unknown, names: object): boolean =>
    Object.keys(names).every((name) => Number.isFinite((Object(value) as Record<string, unknown>)[name]))
  const { balances: _balances, dropped: reasons, ...counted } = EMPTY_ACCOUNT
  const isValid = hasNumbers(counts, counted) && hasNumbers(dropped, reasons)
  return isValid && (requestLogs === undefined || isAccount(requestLogs))
}
