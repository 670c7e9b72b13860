/** [main] Listens to the transports behind a logger, and keeps the latest of what each told. */
import type { AccountSnapshot } from '../../diagnostics/account.js'
import type { Clock } from '../../shared/clock.js'
import type { IngestErrorCode } from '../../shared/errors.js'
import { FLUSH_METHOD, addAccounts } from '../../transport/flush-message.js'
import type { MetricsState } from './metric-families.js'

/** What is used of pino's stream to its worker, or of one in this thread. */
interface TransportStream {
  readonly destroyed?: boolean
  readonly closed?: boolean
  readonly writableEnded?: boolean
  on(event: string, listener: (payload: unknown, transport?: unknown) => void): void
  off(event: string, listener: (payload: unknown, transport?: unknown) => void): void
}

/** By the compiler: all there are. A neighbour in the same worker may emit what it likes, and labels are to stay few. */
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

const COUNTED = ['received', 'recovered', 'generated', 'accepted', 'rejected', 'filtered', 'pending'] as const
const EMPTY_ACCOUNT: AccountSnapshot = {
  received: 0,
  recovered: 0,
  generated: 0,
  accepted: 0,
  rejected: 0,
  filtered: 0,
  pending: 0,
  balances: true,
  dropped: { buffer: 0, shutdown: 0, spool: 0, age: 0, damaged: 0 },
}

export class MetricsListener {
  readonly #streams: readonly TransportStream[]
  readonly #clock: Clock
  /** By stream, then by the id of the transport: several `targets` share a stream. What has ended stays, so that no sum goes down. */
  readonly #accounts = new Map<TransportStream, Map<unknown, AccountSnapshot>>()
  readonly #problems = new Map<IngestErrorCode, number>()
  readonly #undos: (() => void)[] = []
  #toldAtMs: number | undefined

  /** @param streams as `ingestStreamsOf` gives them */
  constructor(streams: readonly object[], clock: Clock) {
    this.#streams = streams as readonly TransportStream[]
    this.#clock = clock
    for (const stream of this.#streams) {
      this.#listen(stream, 'ingest:stats', (payload, transport) => this.#take(stream, payload, transport))
      this.#listen(stream, 'ingest:problem', (payload) => this.#count(payload))
    }
  }

  /** Of all transports; undefined before the first. */
  get account(): AccountSnapshot | undefined {
    const [first, ...others] = [...this.#accounts.values()].flatMap((ofStream) => [...ofStream.values()])
    return first === undefined ? undefined : others.reduce(addAccounts, first)
  }

  get state(): MetricsState {
    return {
      account: this.account ?? EMPTY_ACCOUNT,
      reportedAtMs: this.#toldAtMs,
      problems: this.#problems,
      closedStreams: this.#streams.filter((one) => this.#isOurs(one) && isClosed(one)).length,
    }
  }

  close(): void {
    for (const undo of this.#undos.splice(0)) undo()
  }

  /** A worker may be another package's, which shows by what it tells. */
  #isOurs(stream: TransportStream): boolean {
    return FLUSH_METHOD in stream || this.#accounts.has(stream)
  }

  #listen(stream: TransportStream, event: string, listener: (payload: unknown, transport?: unknown) => void): void {
    stream.on(event, listener)
    this.#undos.push(() => stream.off(event, listener))
  }

  #take(stream: TransportStream, payload: unknown, transport: unknown): void {
    if (!isAccount(payload)) return
    const ofStream = this.#accounts.get(stream) ?? new Map<unknown, AccountSnapshot>()
    this.#accounts.set(stream, ofStream.set(transport, pickKnownFields(payload)))
    this.#toldAtMs = this.#clock.wallNow()
  }

  #count(payload: unknown): void {
    const code = (payload as { code?: unknown } | null | undefined)?.code
    if (typeof code !== 'string' || !Object.hasOwn(CODES, code)) return
    this.#problems.set(code as IngestErrorCode, (this.#problems.get(code as IngestErrorCode) ?? 0) + 1)
  }
}

function isClosed({ destroyed, closed, writableEnded }: TransportStream): boolean {
  return destroyed === true || closed === true || writableEnded === true
}

/** Nothing else of it: what a neighbour adds must not become a label. */
function pickKnownFields({ dropped, requestLogs, balances: closes, ...counts }: AccountSnapshot): AccountSnapshot {
  const numbers = Object.fromEntries(COUNTED.map((name) => [name, counts[name]])) as Pick<
    AccountSnapshot,
    (typeof COUNTED)[number]
  >
  const { buffer, shutdown, spool, age, damaged } = dropped
  return {
    ...numbers,
    balances: closes,
    dropped: { buffer, shutdown, spool, age, damaged },
    ...(requestLogs && { requestLogs: pickKnownFields(requestLogs) }),
  }
}

function isAccount(payload: unknown): payload is AccountSnapshot {
  if (typeof payload !== 'object' || payload === null) return false
  const { dropped, requestLogs, ...counts } = payload as Partial<Record<string, unknown>>
  return (
    COUNTED.every((name) => Number.isFinite(counts[name])) &&
    hasReasons(dropped) &&
    (requestLogs === undefined || isAccount(requestLogs))
  )
}

function hasReasons(dropped: unknown): boolean {
  return (
    typeof dropped === 'object' &&
    dropped !== null &&
    Object.keys(EMPTY_ACCOUNT.dropped).every((reason) => Number.isFinite((dropped as Record<string, unknown>)[reason]))
  )
}
