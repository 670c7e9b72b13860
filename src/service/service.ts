/** The local service put together. */
import { BASE_PATH } from '../protocol/limits.js'
import { BodyReader } from './body.js'
import { Calls } from './calls.js'
import type { Call } from './calls.js'
import { Faults } from './faults.js'
import { Intake } from './intake.js'
import { Keys } from './keys.js'
import { resolveOptions } from './options.js'
import type { IngestServiceOptions } from './options.js'
import type { EntryFilter, EntryQuery } from './queries.js'
import { RateLimit } from './rate-limit.js'
import { Reader } from './reader.js'
import type { EntryWithFeedback } from './reader.js'
import { buildServer, closeServer, listen } from './server.js'
import { openStore } from './store/open.js'
import type { LevelCounts, Page, PageQuery, RejectedBatch, StoredEntry, StoredFeedback } from './store/store.js'
import type { StoredHeartbeat, StoredRelease, StoredRequestLog } from './store/store.js'
import { Waiters } from './waiters.js'
import type { EntryPredicate, WaitOptions } from './waiters.js'

/** A running local service. Lists are newest first, by pages. */
export interface IngestService {
  /** The base URL, which ends with `/api/v1`. */
  readonly url: string
  /** For example `http://127.0.0.1:4319`. */
  readonly origin: string
  readonly port: number
  readonly faults: Faults
  /** What came in at the endpoints, oldest first; the newest `maxCalls`. */
  readonly requests: readonly Call[]
  /** Entries kept at the start and accepted since, or since the last reset. */
  readonly arrived: number
  entries(query?: EntryQuery): Page<StoredEntry>
  entry(id: string): EntryWithFeedback | undefined
  counts(filter?: EntryFilter): LevelCounts
  requestLogs(page?: PageQuery): Page<StoredRequestLog>
  feedback(page?: PageQuery): Page<StoredFeedback>
  releases(page?: PageQuery): Page<StoredRelease>
  heartbeats(page?: PageQuery): Page<StoredHeartbeat>
  rejected(page?: PageQuery): Page<RejectedBatch>
  /**
   * With a number, resolves to all entries kept, oldest first, once so many have arrived; with a predicate, to the
   * entries that satisfy it, once there is one. With `store: 'none'` a number resolves to an empty list.
   * @throws IngestServiceError `TIMEOUT` (which says how many came) after `timeoutMs`, 5000 by default; `CLOSED`.
   */
  waitForEntries(wanted: number | EntryPredicate, options?: WaitOptions): Promise<readonly StoredEntry[]>
  /** Forgets entries and everything else that is stored, the request log and the faults. */
  reset(): void
  /** Ends at once, also hanging requests and idle connections; what is stored in a file stays. */
  close(): Promise<void>
}

/**
 * Starts the local service.
 * @throws IngestServiceError `OPTION`, `PORT` or `STORE`; then nothing is left running.
 */
export async function createIngestService(options: IngestServiceOptions = {}): Promise<IngestService> {
  const resolved = resolveOptions(options)
  const { clock, onProblem } = resolved
  const now = (): number => clock.now()
  const store = openStore(resolved)
  const reader = new Reader(store)
  const waiters = new Waiters(store.counts({}).total)
  const faults = new Faults(now)
  const calls = new Calls(resolved.maxCalls, now)
  const bodies = new BodyReader(resolved.maxBodyBytes)
  const ended = new AbortController()
  const intake = new Intake(store, {
    ...resolved,
    monitorTokens: resolved.monitorTokens,
    wallNow: () => clock.wallNow(),
    onEntries: (records) => {
      waiters.notify(records)
      resolved.onEntries(records)
    },
  })
  const reset = (): void => {
    store.clear()
    intake.reset()
    calls.clear()
    faults.clear()
    waiters.reset()
  }
  const server = buildServer({
    exchange: {
      intake,
      faults,
      calls,
      bodies,
      keys: new Keys(resolved.apiKeys),
      rateLimit: resolved.rateLimit && new RateLimit(resolved.rateLimit, now),
      latencyMs: resolved.latencyMs,
      signal: ended.signal,
    },
    local: { reader, faults, calls, bodies, reset },
    maxConnections: resolved.maxConnections,
    onProblem,
  })
  const host = resolved.host === 'localhost' ? '127.0.0.1' : resolved.host
  const { port } = await listen(server, host, resolved.port).catch((error: unknown) => {
    store.close()
    throw error
  })
  const origin = `http://${host === '::1' ? '[::1]' : host}:${port}`

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    ended.abort()
    waiters.close()
    await closeServer(server)
    store.close()
  }
  const kept = (): readonly StoredEntry[] =>
    store.kind === 'none' ? [] : store.entries({ limit: Infinity }).items.toReversed()

  return {
    url: origin + BASE_PATH,
    origin,
    port,
    faults,
    get requests() {
      return calls.list()
    },
    get arrived() {
      return waiters.arrived
    },
    entries: (query = {}) => reader.entries(query),
    entry: (id) => reader.entry(id),
    counts: (filter = {}) => reader.counts(filter),
    requestLogs: (page = {}) => reader.list('request', page),
    feedback: (page = {}) => reader.list('feedback', page),
    releases: (page = {}) => reader.list('release', page),
    heartbeats: (page = {}) => reader.list('heartbeat', page),
    rejected: (page = {}) => reader.list('rejected', page),
    async waitForEntries(wanted, waitOptions = {}) {
      if (typeof wanted === 'number') {
        await waiters.count(wanted, waitOptions)
        return kept()
      }
      const found = kept().filter(wanted)
      if (found.length > 0) return found
      await waiters.match(wanted, waitOptions)
      return kept().filter(wanted)
    },
    reset,
    close: () => (closing ??= close()),
  }
}
