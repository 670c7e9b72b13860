/** The local service: creates its parts, starts and closes them. */
import { BASE_PATH } from '../protocol/limits.js'
import { EntryWaiters } from './entry-waiters.js'
import type { EntryPredicate, WaitOptions } from './entry-waiters.js'
import { checkArgument, readOptions } from '../shared/argument-checks.js'
import { BodyReader } from './http/body-reader.js'
import { formatOrigin } from './http/origin-check.js'
import { RateLimit } from './http/rate-limit.js'
import { RequestRecorder } from './http/request-recorder.js'
import type { RecordedRequest } from './http/request-recorder.js'
import { closeServer, createHttpServer, listenOn } from './http/server.js'
import { TokenAuth } from './http/token-auth.js'
import { Faults } from './ingest/faults.js'
import { Ingester } from './ingest/ingester.js'
import type { RecordListener } from './ingest/ingester.js'
import type { EntryPage, EntryWithFeedback } from './query/api-types.js'
import type { TimePageQuery } from './query/entry-pages.js'
import type { EntryFilter, EntryQuery } from './query/query-filters.js'
import type { RequestQuery } from './query/request-pages.js'
import { forgetSearches } from './query/matching/match-memo.js'
import { createStatus } from './service-status.js'
import { StoreReader } from './store-reader.js'
import { resolveServiceOptions } from './service-options.js'
import type { IngestServiceOptions } from './service-options.js'
import { startAgeLimit } from './store/age-limit.js'
import { FileLock } from './store/file-lock.js'
import { resolveStoreFile } from './store/store-file.js'
import { Store } from './store/store.js'
import type { LevelCounts, Page, PageQuery, RejectedBatch, StoredEntry, StoredFeedback } from './store/stored-record.js'
import type { RecordKind, Records, StoredHeartbeat, StoredRelease, StoredRequestLog } from './store/stored-record.js'
import { StreamBroadcaster } from './stream/stream-broadcaster.js'

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
   * Requests that were refused, in whole or in part, newest first.
   * @throws IngestServiceError `QUERY` for an invalid page.
   */
  rejected(page?: PageQuery): Page<RejectedBatch>
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
  const { clock, dbFile, maxAgeMs, onProblem, token } = resolved
  const startedAtMs = clock.wallNow()
  const file = dbFile === undefined ? undefined : resolveStoreFile(dbFile)
  const lock = file && new FileLock(file)
  const cleanUp: (() => void)[] = [() => lock?.release()]
  try {
    const store = new Store({
      maxEntries: resolved.maxEntries,
      maxBytes: resolved.maxStoreBytes,
      file,
      onProblem,
    })
    cleanUp.unshift(() => store.close())
    if (maxAgeMs !== undefined) {
      const stop = startAgeLimit({
        maxAgeMs,
        clock,
        deleteOlder: (receivedBeforeMs) => store.deleteOlder(receivedBeforeMs),
      })
      cleanUp.unshift(stop)
    }
    const reader = new StoreReader(store, () => clock.wallNow())
    const waiters = new EntryWaiters(store.recordCounts().entry)
    const streams = new StreamBroadcaster({ reader, lastSeq: store.lastSeq, clock })
    const faults = new Faults(() => clock.now())
    const recorder = new RequestRecorder(resolved.maxRecordedRequests, () => clock.now())
    const bodies = new BodyReader(resolved.maxBodyBytes)
    const closing = new AbortController()
    const onRecords: RecordListener = (kind, indexed) => {
      const records = indexed.map(({ record }): Records[RecordKind] => record)
      if (kind === 'entry') waiters.entriesStored(records as readonly StoredEntry[])
      streams.recordsStored(kind, indexed)
      resolved.onRecords(kind, records)
    }
    const ingester = new Ingester(store, { ...resolved, wallNow: () => clock.wallNow(), onRecords })
    const reset = (): void => {
      store.clear()
      ingester.reset()
      recorder.clear()
      faults.clear()
      forgetSearches()
      waiters.reset()
      streams.reset()
    }
    const { apiKeys, latencyMs } = resolved
    const rateLimit = resolved.rateLimit && new RateLimit(resolved.rateLimit, () => clock.now())
    const server = createHttpServer({
      endpoints: { ingester, faults, recorder, bodies, apiKeys, rateLimit, latencyMs, signal: closing.signal },
      local: {
        reader,
        faults,
        recorder,
        bodies,
        streams,
        reset,
        auth: new TokenAuth(token),
        createStatus: (origin) =>
          createStatus(resolved, { url: origin + BASE_PATH, startedAtMs, stored: reader.recordCounts() }),
      },
      onProblem,
    })
    const host = resolved.host === 'localhost' ? '127.0.0.1' : resolved.host
    const { port } = await listenOn(server, host, resolved.port)
    const origin = formatOrigin(host, port)

    const close = async (): Promise<void> => {
      closing.abort()
      waiters.close()
      streams.close()
      forgetSearches()
      await closeServer(server)
      for (const run of cleanUp) run()
    }
    let closed: Promise<void> | undefined
    const listAll = (): readonly StoredEntry[] => store.oldestFirst('entry').map(({ record }) => record)

    return {
      url: origin + BASE_PATH,
      origin,
      port,
      token,
      pageUrl: `${origin}/#token=${token}`,
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
      close: () => (closed ??= close()),
    }
  } catch (error) {
    for (const run of cleanUp) run()
    throw error
  }
}
