/** The local service put together. */
import { BASE_PATH } from '../protocol/limits.js'
import { TokenAuth } from './http/token-auth.js'
import { AgeLimit } from './store/age-limit.js'
import { BodyReader } from './http/body-reader.js'
import { RequestRecorder } from './http/request-recorder.js'
import type { RecordedRequest } from './http/request-recorder.js'
import { ConnectionLimiter } from './http/connection-limiter.js'
import { Faults } from './ingest/faults.js'
import { Ingester } from './ingest/ingester.js'
import type { RecordListener } from './ingest/ingester.js'
import { ApiKeys } from './http/api-keys.js'
import { resolveServiceOptions } from './service-options.js'
import type { IngestServiceOptions, ResolvedServiceOptions } from './service-options.js'
import type { EntryFilter, EntryQuery } from './query/query-filters.js'
import { RateLimit } from './http/rate-limit.js'
import { StoreReader } from './query/store-reader.js'
import type { EntryWithFeedback } from './query/api-types.js'
import { unrefTimers } from './schedule.js'
import type { Schedule } from './schedule.js'
import { createHttpServer, closeServer, listenOn, TIMEOUTS } from './http/server.js'
import type { ServerTimeouts } from './http/server.js'
import { createStatus } from './query/service-status.js'
import { FileLock } from './store/file-lock.js'
import { openStore } from './store/open.js'
import type { LevelCounts, Page, PageQuery, RejectedBatch, Store, StoredEntry, StoredFeedback } from './store/store.js'
import type { StoredHeartbeat, StoredRelease, StoredRequestLog } from './store/store.js'
import { StreamBroadcaster } from './stream/stream-broadcaster.js'
import { EntryWaiters } from './entry-waiters.js'
import type { EntryPredicate, WaitOptions } from './entry-waiters.js'

/** A running local service. Lists are newest first, by pages. */
export interface IngestService {
  /** The base URL, which ends with `/api/v1`. */
  readonly url: string
  /** For example `http://127.0.0.1:4319`. */
  readonly origin: string
  readonly port: number
  /** Opens the page and `/local/`. */
  readonly token: string
  /** The address of the page, with the token in it. */
  readonly pageUrl: string
  readonly faults: Faults
  /** What came in at the endpoints, oldest first; the newest `maxRecordedRequests`. */
  readonly requests: readonly RecordedRequest[]
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

/** What tests of the service itself replace, and nobody else has a use for. */
export interface ServiceInternals {
  readonly after: Schedule
  readonly timeouts: ServerTimeouts
}

/**
 * Starts the local service.
 * @throws IngestServiceError `OPTION`, `PORT` or `STORE`; then nothing is left running.
 */
export async function createIngestService(options: IngestServiceOptions = {}): Promise<IngestService> {
  return startService(resolveServiceOptions(options), { after: unrefTimers, timeouts: TIMEOUTS })
}

/** @throws IngestServiceError `PORT` or `STORE`. */
export async function startService(
  resolved: ResolvedServiceOptions,
  { after, timeouts }: ServiceInternals,
): Promise<IngestService> {
  const { clock, onProblem, token, maxAgeMs } = resolved
  const now = (): number => clock.now()
  const wallNow = (): number => clock.wallNow()
  const startedAtMs = wallNow()
  const lock = resolved.dbFile === undefined ? undefined : new FileLock(resolved.dbFile)
  const store = opened(resolved, lock)
  const ageLimit =
    maxAgeMs === undefined
      ? undefined
      : new AgeLimit({
          maxAgeMs,
          deleteOlder: (receivedBeforeMs) => store.deleteOlder(receivedBeforeMs),
          wallNow,
          now,
          after,
          onProblem,
        })
  const reader = new StoreReader(store, wallNow)
  const waiters = new EntryWaiters(store.counts({}).total)
  const streams = new StreamBroadcaster({ reader, lastSeq: store.lastSeq(), after, now })
  const faults = new Faults(now)
  const calls = new RequestRecorder(resolved.maxRecordedRequests, now)
  const bodies = new BodyReader({ maxBytes: resolved.maxBodyBytes, now })
  const ended = new AbortController()
  const tell = tellAll(waiters, streams, resolved)
  const intake = new Ingester(store, {
    ...resolved,
    monitorTokens: resolved.monitorTokens,
    wallNow,
    onRecords: (kind, records) => {
      ageLimit?.recordsStored()
      tell(kind, records)
    },
  })
  const reset = (): void => {
    store.clear()
    intake.reset()
    calls.clear()
    faults.clear()
    waiters.reset()
    streams.reset()
  }
  const server = createHttpServer({
    exchange: {
      intake,
      faults,
      calls,
      bodies,
      keys: new ApiKeys(resolved.apiKeys),
      rateLimit: resolved.rateLimit && new RateLimit(resolved.rateLimit, now),
      latencyMs: resolved.latencyMs,
      signal: ended.signal,
    },
    local: {
      reader,
      faults,
      calls,
      bodies,
      streams,
      reset,
      access: new TokenAuth(token),
      status: () => createStatus(resolved, { url: origin + BASE_PATH, startedAtMs, kept: reader.recordCounts() }),
    },
    connections: new ConnectionLimiter(resolved.maxConnections, now),
    timeouts,
    onProblem,
  })
  const host = resolved.host === 'localhost' ? '127.0.0.1' : resolved.host
  const { port } = await listenOn(server, host, resolved.port).catch((error: unknown) => {
    ageLimit?.close()
    store.close()
    lock?.release()
    throw error
  })
  const origin = `http://${host === '::1' ? '[::1]' : host}:${port}`

  let closing: Promise<void> | undefined
  const close = async (): Promise<void> => {
    ended.abort()
    ageLimit?.close()
    waiters.close()
    streams.close()
    await closeServer(server)
    store.close()
    lock?.release()
  }
  const kept = (): readonly StoredEntry[] =>
    store.kind === 'none' ? [] : store.entries({ limit: Infinity }).items.toReversed()

  return {
    url: origin + BASE_PATH,
    origin,
    port,
    token,
    pageUrl: `${origin}/#token=${token}`,
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
        await waiters.waitForCount(wanted, waitOptions)
        return kept()
      }
      const found = kept().filter(wanted)
      if (found.length > 0) return found
      await waiters.waitForMatch(wanted, waitOptions)
      return kept().filter(wanted)
    },
    reset,
    close: () => (closing ??= close()),
  }
}

/** Who is told of what was stored, in this order: who waits in this process, who reads the stream, who asked by option. */
function tellAll(
  waiters: EntryWaiters,
  streams: StreamBroadcaster,
  { onEntries, onRecords }: ResolvedServiceOptions,
): RecordListener {
  return (kind, records) => {
    if (kind === 'entry') {
      const entries = records as readonly StoredEntry[]
      waiters.entriesStored(entries)
      streams.entries(entries)
      onEntries(entries)
    } else {
      streams.changed(kind, records)
    }
    onRecords(kind, records)
  }
}

function opened(options: ResolvedServiceOptions, lock: FileLock | undefined): Store {
  try {
    return openStore(options)
  } catch (error) {
    lock?.release()
    throw error
  }
}
