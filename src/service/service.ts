/** The local service: creates its parts, starts and closes them. */
import { setMaxListeners } from 'node:events'
import { BASE_PATH } from '../protocol/limits.js'
import { EntryWaiters } from './entry-waiters.js'
import type { EntryPredicate, WaitOptions } from './entry-waiters.js'
import { checkArgument, readOptions } from '../shared/argument-checks.js'
import type { Clock } from '../shared/clock.js'
import { VERSION } from '../version.js'
import { BodyReader } from './http/body-reader.js'
import { formatOrigin, TokenAuth } from './http/access.js'
import { createRateLimit } from './http/endpoint-handler.js'
import { RequestRecorder } from './http/request-recorder.js'
import type { RecordedRequest } from './http/request-recorder.js'
import { closeServer, createHttpServer, listenOn } from './http/server.js'
import { Faults } from './ingest/faults.js'
import { Ingester } from './ingest/ingester.js'
import type { RecordListener } from './ingest/ingester.js'
import type { EntryPage, EntryWithFeedback } from './query/api-types.js'
import type { TimePageQuery } from './query/entry-pages.js'
import type { EntryFilter, EntryQuery, RequestQuery } from './query/query-filters.js'
import { MatchMemo } from './query/matching/match-memo.js'
import { StoreReader } from './store-reader.js'
import { resolveServiceOptions } from './service-options.js'
import type { IngestServiceOptions, ResolvedServiceOptions } from './service-options.js'
import { FileLock } from './store/file-lock.js'
import { resolveStoreFile } from './store/store-file.js'
import { Store } from './store/store.js'
import type { LevelCounts, Page, PageQuery } from './store/stored-record.js'
import type { RejectedRequest, StoredEntry, StoredFeedback } from './store/stored-record.js'
import type { RecordKind, Records, StoredHeartbeat, StoredRelease, StoredRequestLog } from './store/stored-record.js'
import { StreamBroadcaster } from './stream/stream-broadcaster.js'

const AGE_CHECK_MS = 60_000

/** A running local service. Lists are in pages and newest first: entries and request logs by their timestamp, others by arrival. */
export interface IngestService {
  /** The base URL, which ends with `/api/v1`. */
  readonly url: string
  /** For example `http://127.0.0.1:4319`. */
  readonly origin: string
  /** The port that the service listens on. */
  readonly port: number
  /** Required by `/local/`. */
  readonly token: string
  /** The address of the page, including the token. */
  readonly pageUrl: string
  /** Scripted faults, for tests of a client. */
  readonly faults: Faults
  /** Requests to the endpoints, oldest first; the newest `maxRecordedRequests`. */
  readonly requests: readonly RecordedRequest[]
  /** Entries that were stored at startup and accepted since, or since the last reset. */
  readonly arrived: number
  /**
   * Entries by their own timestamp, newest first; entries of the same millisecond by arrival. A page stays right while entries arrive:
   * `cursor` continues with older ones, `newer` with those that are next newer.
   * @throws IngestServiceError `QUERY` for an invalid filter or page.
   */
  entries(query?: EntryQuery & TimePageQuery): EntryPage<StoredEntry>
  /** The entry with this `id`, undefined without one. */
  entry(id: string): EntryWithFeedback | undefined
  /**
   * Number of entries by level.
   * @throws IngestServiceError `QUERY` for an invalid filter.
   */
  counts(filter?: EntryFilter): LevelCounts
  /**
   * Request logs by timestamp, newest first, or by duration, slowest first.
   * @throws IngestServiceError `QUERY` for an invalid filter or page.
   */
  requestLogs(query?: RequestQuery): Page<StoredRequestLog>
  /**
   * Feedback, newest first.
   * @throws IngestServiceError `QUERY` for an invalid page.
   */
  feedback(page?: PageQuery): Page<StoredFeedback>
  /**
   * Registered releases, newest first.
   * @throws IngestServiceError `QUERY` for an invalid page.
   */
  releases(page?: PageQuery): Page<StoredRelease>
  /**
   * Heartbeats, newest first.
   * @throws IngestServiceError `QUERY` for an invalid page.
   */
  heartbeats(page?: PageQuery): Page<StoredHeartbeat>
  /**
   * Requests that were rejected, in whole or in part, newest first.
   * @throws IngestServiceError `QUERY` for an invalid page.
   */
  rejected(page?: PageQuery): Page<RejectedRequest>
  /**
   * With a number, resolves to all stored entries, oldest first, when that many have arrived. With a predicate, resolves to the matching
   * entries, when there is one.
   * @throws IngestServiceError `TIMEOUT` after `timeoutMs` (5000), with the number of entries that arrived; `CLOSED`. IngestError `CONFIG`
   * for other arguments.
   */
  waitForEntries(wanted: number | EntryPredicate, options?: WaitOptions): Promise<readonly StoredEntry[]>
  /** Deletes all records, the recorded requests and the faults. */
  reset(): void
  /** Closes all connections at once, also those of requests that hang. The file keeps its records. */
  close(): Promise<void>
}

/**
 * Starts the local service, an implementation of the service's interface for development and tests.
 *
 * @returns the running service; `url` and any key are options for the transport and `IngestClient`
 * @throws IngestError `CONFIG` for an invalid option, IngestServiceError `PORT` or `STORE`; the service is then not running.
 */
export async function createIngestService(options: IngestServiceOptions = {}): Promise<IngestService> {
  const resolved = resolveServiceOptions(options)
  const cleanUp: (() => void)[] = []
  const end = (): void => cleanUp.forEach((run) => run())
  try {
    const parts = createParts(resolved, openStore(resolved, cleanUp))
    const { server, origin, port } = await startServer(resolved, parts)
    let closed: Promise<void> | undefined
    const close = (): Promise<void> => {
      parts.close()
      return closeServer(server).then(end)
    }
    return toService(parts, { origin, port, token: resolved.token, close: () => (closed ??= close()) })
  } catch (error) {
    end()
    throw error
  }
}

/** @param cleanUp receives what closes the store, also before an error @throws IngestServiceError `STORE` */
function openStore(options: ResolvedServiceOptions, cleanUp: (() => void)[]): Store {
  const { maxEntries, maxStoreBytes: maxBytes, dbFile, maxAgeMs, clock, onProblem } = options
  const file = dbFile === undefined ? undefined : resolveStoreFile(dbFile)
  const lock = file && new FileLock(file)
  cleanUp.push(() => lock?.release())
  const store = new Store({ maxEntries, maxBytes, file, onProblem })
  cleanUp.unshift(() => store.close())
  if (maxAgeMs !== undefined) cleanUp.unshift(startAgeLimit(store, maxAgeMs, clock))
  return store
}

/** Deletes older records, by time of receipt, now and then every minute. @returns function that stops the timer */
function startAgeLimit(store: Store, maxAgeMs: number, clock: Clock): () => void {
  let cancel = (): void => {}
  const run = (): void => {
    store.deleteOlder(clock.wallNow() - maxAgeMs)
    cancel = clock.timer(AGE_CHECK_MS, run)
  }
  run()
  return () => cancel()
}

/** What the server and the calls in-process share. */
function createParts(options: ResolvedServiceOptions, store: Store) {
  const { clock } = options
  const [now, wallNow] = [() => clock.now(), () => clock.wallNow()]
  const searches = new MatchMemo()
  const reader = new StoreReader(store, searches)
  const waiters = new EntryWaiters(store.recordCounts().entry)
  const streams = new StreamBroadcaster({ reader, lastSeq: store.lastSeq, clock })
  const onRecords: RecordListener = (kind, indexed) => {
    const records = indexed.map(({ record }): Records[RecordKind] => record)
    if (kind === 'entry') waiters.entriesStored(records as readonly StoredEntry[])
    streams.recordsStored(kind, indexed)
    options.onRecords(kind, records)
  }
  const ingester = new Ingester(store, { ...options, wallNow, onRecords })
  const faults = new Faults(now)
  const recorder = new RequestRecorder(options.maxRecordedRequests, now)
  const closing = new AbortController()
  setMaxListeners(0, closing.signal) // each delayed reply waits for it
  const reset = (): void => {
    store.clear()
    for (const part of [recorder, faults, searches]) part.clear()
    for (const part of [ingester, waiters, streams]) part.reset()
  }
  const close = (): void => {
    closing.abort()
    waiters.close()
    streams.close()
    searches.clear()
  }
  return { store, reader, waiters, streams, ingester, faults, recorder, signal: closing.signal, reset, close }
}

type Parts = ReturnType<typeof createParts>

/** @throws IngestServiceError `PORT` */
async function startServer(options: ResolvedServiceOptions, parts: Parts) {
  const { clock, apiKeys, latencyMs, onProblem } = options
  const startedAtMs = clock.wallNow()
  const bodies = new BodyReader(options.maxBodyBytes)
  const rateLimit = options.rateLimit && createRateLimit(options.rateLimit, () => clock.now())
  const server = createHttpServer({
    endpoints: { ...parts, bodies, apiKeys, rateLimit, latencyMs },
    local: {
      ...parts,
      bodies,
      auth: new TokenAuth(options.token),
      createStatus: (at) => ({
        version: VERSION,
        url: at + BASE_PATH,
        started_at: new Date(startedAtMs).toISOString(),
        db_file: options.dbFile ?? null,
        stored: parts.reader.recordCounts(),
        limits: {
          max_entries: options.maxEntries,
          max_bytes: options.maxStoreBytes,
          max_age_ms: options.maxAgeMs ?? null,
        },
      }),
    },
    onProblem,
  })
  const host = options.host === 'localhost' ? '127.0.0.1' : options.host
  const { port } = await listenOn(server, host, options.port)
  return { server, origin: formatOrigin(host, port), port }
}

function toService(
  { store, reader, waiters, faults, recorder, reset }: Parts,
  running: Pick<IngestService, 'origin' | 'port' | 'token' | 'close'>,
): IngestService {
  const listAll = (): readonly StoredEntry[] => store.oldestFirst('entry').map(({ record }) => record)
  return {
    ...running,
    url: running.origin + BASE_PATH,
    pageUrl: `${running.origin}/#token=${running.token}`,
    faults,
    get requests() {
      return recorder.list()
    },
    get arrived() {
      return waiters.arrived
    },
    entries: (query) => reader.entries(readOptions('entries()', query)),
    entry: (id) => reader.entry(id),
    counts: (filter) => reader.counts(readOptions('counts()', filter)),
    requestLogs: (query) => reader.requestLogs(readOptions('requestLogs()', query)),
    feedback: (page) => reader.list('feedback', readOptions('feedback()', page)),
    releases: (page) => reader.list('release', readOptions('releases()', page)),
    heartbeats: (page) => reader.list('heartbeat', readOptions('heartbeats()', page)),
    rejected: (page) => reader.list('rejected', readOptions('rejected()', page)),
    async waitForEntries(wanted, given) {
      const waitOptions = readOptions('waitForEntries()', given)
      const isWanted = typeof wanted === 'function' || Number.isFinite(wanted)
      checkArgument('the first argument of waitForEntries()', 'a number or a function', isWanted, wanted)
      if (typeof wanted === 'number') {
        await waiters.waitForCount(wanted, waitOptions)
        return listAll()
      }
      const found = listAll().filter(wanted)
      if (found.length > 0) return found
      await waiters.waitForMatch(wanted, waitOptions)
      return listAll().filter(wanted)
    },
    reset,
  }
}
