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
  on(event: string, listener: Listener): void
  off(event: string, listener: Listener): void
}

type Listener = ((account: AccountSnapshot, transport: unknown) => void) | ((problem: Problem) => void)

interface Problem {
  readonly code: IngestErrorCode
}

const EMPTY_ACCOUNT: AccountSnapshot = new Account().snapshot()

export class MetricsListener {
  readonly #streams: readonly TransportStream[]
  /** By stream, then by transport id: several `targets` share a stream. Ended transports stay, so no sum decreases. */
  readonly #accounts = new Map<TransportStream, Map<unknown, AccountSnapshot>>()
  readonly #problems = new Map<IngestErrorCode, number>()
  #reportedAtMs: number | undefined
  /** Remove the listeners. */
  readonly #undos: readonly (() => void)[]

  /** @param streams as returned by `findIngestStreams` */
  constructor(streams: readonly object[], clock: Clock) {
    this.#streams = streams as readonly TransportStream[]
    this.#undos = this.#streams.map((stream) => {
      const onStats = (account: AccountSnapshot, transport: unknown): void => {
        const ofStream = this.#accounts.get(stream) ?? new Map<unknown, AccountSnapshot>()
        this.#accounts.set(stream, ofStream.set(transport, account))
        this.#reportedAtMs = clock.wallNow()
      }
      const onProblem = ({ code }: Problem): void => void this.#problems.set(code, (this.#problems.get(code) ?? 0) + 1)
      stream.on('ingest:stats', onStats)
      stream.on('ingest:problem', onProblem)
      return () => {
        stream.off('ingest:stats', onStats)
        stream.off('ingest:problem', onProblem)
      }
    })
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
    for (const undo of this.#undos) undo()
  }

  /** Whether the worker runs this package's transport, which its events show. */
  #isOurs(stream: TransportStream): boolean {
    return FLUSH_METHOD in stream || this.#accounts.has(stream)
  }
}

function isClosed({ destroyed, closed, writableEnded }: TransportStream): boolean {
  return destroyed === true || closed === true || writableEnded === true
}
