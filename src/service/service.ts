/** The local service put together. */
import { BASE_PATH } from '../protocol/limits.js'
import { Access } from './access.js'
import { AgeLimit } from './age-limit.js'
import { BodyReader } from './body.js'
import { Calls } from './calls.js'
import type { Call } from './calls.js'
import { Connections } from './connections.js'
import { Faults } from './faults.js'
import { Intake } from './intake.js'
import type { RecordListener } from './intake.js'
import { Keys } from './keys.js'
import { resolveOptions } from './options.js'
import type { IngestServiceOptions, Resolved } from './options.js'
import type { EntryFilter, EntryQuery } from './queries.js'
import { RateLimit } from './rate-limit.js'
import { Reader } from './reader.js'
import type { EntryWithFeedback } from './answers.js'
import { unrefTimers } from './schedule.js'
import type { Schedule } from './schedule.js'
import { buildServer, closeServer, listen, TIMEOUTS } from './server.js'
import type { Timeouts } from './server.js'
import { statusOf } from './status.js'
import { FileLock } from './store/file-lock.js'
import { openStore } from './store/open.js'
import type { LevelCounts, Page, PageQuery, RejectedBatch, Store, StoredEntry, StoredFeedback } from './store/store.js'
import type { StoredHeartbeat, StoredRelease, StoredRequestLog } from './store/store.js'
import { Streams } from './streams.js'
import { Waiters } from './waiters.js'
import type { EntryPredicate, WaitOptions } from './waiters.js'

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

/** What tests of the service itself replace, and nobody else has a use for. */
export interface Internals {
  readonly after: Schedule
  readonly timeouts: Timeouts
}

/**
 * Starts the local service.
 * @throws IngestServiceError `OPTION`, `PORT` or `STORE`; then nothing is left running.
 */
export async function createIngestService(options: IngestServiceOptions = {}): Promise<IngestService> {
  return startService(resolveOptions(options), { after: unrefTimers, timeouts: TIMEOUTS })
}

/** @throws IngestServiceError `PORT` or `STORE`. */
export async function startService(resolved: Resolved, { after, timeouts }: Internals): Promise<IngestService> {
  const { clock, onProblem, token, maxAgeMs } = resolved
  const now = (): number => clock.now()
  const wallNow = (): number => clock.wallNow()
  const startedAtMs = wallNow()
  const lock = resolved.dbFile === undefined ? undefined : new FileLock(resolved.dbFile)
  const store = opened(resolved, lock)
  const ageLimit = maxAgeMs === undefined
    ? undefined
    : new AgeLimit({ maxAgeMs, forget: (receivedBeforeMs) => store.forget(receivedBeforeMs), wallNow, now, after, onProblem })
  const reader = new Reader(store, wallNow)
  const waiters = new Waiters(store.counts({}).total)
  const streams = new Streams({ reader, lastSeq: store.lastSeq(), after, now })
  const faults = new Faults(now)
  const calls = new Calls(resolved.maxCalls, now)
  const bodies = new BodyReader({ maxBytes: resolved.maxBodyBytes, now })
  const ended = new AbortController()
  const tell = tellAll(waiters, streams, resolved)
  const intake = new Intake(store, {
    ...resolved,
    monitorTokens: resolved.monitorTokens,
    wallNow,
    onRecords: (kind, records) => {
      ageLimit?.came()
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
    local: {
      reader,
      faults,
      calls,
      bodies,
      streams,
      reset,
      access: new Access(token),
      status: () => statusOf(resolved, { url: origin + BASE_PATH, startedAtMs, kept: reader.kept() }),
    },
    connections: new Connections(resolved.maxConnections, now),
    timeouts,
    onProblem,
  })
  const host = resolved.host === 'localhost' ? '127.0.0.1' : resolved.host
  const { port } = await listen(server, host, resolved.port).catch((error: unknown) => {
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

/** Who is told of what was stored, in this order: who waits in this process, who reads the stream, who asked by option. */
function tellAll(waiters: Waiters, streams: Streams, { onEntries, onRecords }: Resolved): RecordListener {
  return (kind, records) => {
    if (kind === 'entry') {
      const entries = records as readonly StoredEntry[]
      waiters.notify(entries)
      streams.entries(entries)
      onEntries(entries)
    } else {
      streams.changed(kind, records)
    }
    onRecords(kind, records)
  }
}

function opened(options: Resolved, lock: FileLock | undefined): Store {
  try {
    return openStore(options)
  } catch (error) {
    lock?.release()
    throw error
  }
}
