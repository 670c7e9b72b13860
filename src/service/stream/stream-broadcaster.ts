/** Implements `GET /local/stream`: manages subscribers and their filters, and removes disconnected ones. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../shared/clock.js'
import { createFailure, STREAM_HEADERS } from '../service-reply.js'
import type { Reply } from '../service-reply.js'
import type { EntrySummary } from '../query/api-types.js'
import { createSummarizer } from '../query/entry-summary.js'
import { createEntryMatcher } from '../query/query-filters.js'
import type { EntryFilter } from '../query/query-filters.js'
import type { NewEntries, StoreReader } from '../store-reader.js'
import type { IndexedEntry, IndexedRecord } from '../store/indexed-record.js'
import type { RecordKind, StoredEntry } from '../store/stored-record.js'
import { COMMENT, COMMENT_INTERVAL_MS } from './server-sent-events.js'
import { formatEntries, formatReset, MAX_WAITING_ENTRIES, StreamSubscriber } from './stream-subscriber.js'

export const MAX_STREAMS = 32
/** A stream whose reader has stopped is closed after this time. */
const MAX_IDLE_MS = 60_000

const NO_ENTRIES: NewEntries = { items: [], skipped: 0 }

export interface BroadcasterDependencies {
  readonly reader: Pick<StoreReader, 'entriesAfter'>
  readonly lastSeq: number
  readonly clock: Clock
}

export interface StreamQuery {
  readonly filter: EntryFilter
  /** Sends entries that arrived after this `seq` first. Undefined: sends only new entries. */
  readonly afterSeq: number | undefined
  /** Fields to include as `columns` in the summaries. */
  readonly columns?: readonly string[] | undefined
}

interface OpenStream {
  readonly matches: (entry: IndexedEntry) => boolean
  readonly summarize: (record: StoredEntry) => EntrySummary
  readonly subscriber: StreamSubscriber
  readonly response: ServerResponse
}

export class StreamBroadcaster {
  readonly #dependencies: BroadcasterDependencies
  readonly #open = new Set<OpenStream>()
  #lastSeq: number
  /** The `seq` of the last record before the last reset. */
  #resetSeq = 0
  #cancelComments: (() => void) | undefined

  constructor(dependencies: BroadcasterDependencies) {
    this.#dependencies = dependencies
    this.#lastSeq = dependencies.lastSeq
  }

  /**
   * Opens the stream, or returns an error reply if there are too many.
   * @throws IngestServiceError `QUERY` for an invalid filter
   */
  open(
    request: IncomingMessage,
    response: ServerResponse,
    { filter, afterSeq = this.#lastSeq, columns }: StreamQuery,
  ): Reply | undefined {
    if (this.#open.size >= MAX_STREAMS) {
      const message = `${MAX_STREAMS} streams are open, the maximum: close a page or a \`pino-ingest tail\``
      return createFailure(503, message, 'overloaded', { 'retry-after': '5' })
    }
    const { reader, clock } = this.#dependencies
    // No time limit for regular expressions, because a stream has no end.
    const matches = createEntryMatcher(filter, undefined, Infinity)
    // A `seq` that was never used is from an earlier run; a `seq` from before the reset refers to deleted records. 0 refers to no record.
    const isStale = afterSeq > this.#lastSeq || (afterSeq > 0 && afterSeq < this.#resetSeq)
    const fromSeq = isStale ? this.#resetSeq : afterSeq
    const missed = fromSeq < this.#lastSeq ? reader.entriesAfter(fromSeq, filter, MAX_WAITING_ENTRIES) : NO_ENTRIES
    response.writeHead(200, STREAM_HEADERS)
    if (request.method === 'HEAD') {
      response.end()
      return undefined
    }
    const subscriber = new StreamSubscriber({ clock, write: (text) => response.write(text) })
    const summarize = createSummarizer({ columns, q: filter.q })
    const stream: OpenStream = { matches, summarize, subscriber, response }
    // Nothing is written while the connection is full, so that only a reader that has stopped lets it be idle.
    response.setTimeout(MAX_IDLE_MS, () => response.destroy())
    response.on('drain', () => subscriber.drained())
    response.once('close', () => {
      subscriber.close()
      this.#open.delete(stream)
    })
    const reset = isStale ? formatReset(this.#resetSeq) : ''
    // Sends an id at once: a subscriber that disconnects before the first entry can then resume.
    const start = missed.items.length === 0 ? formatEntries([], missed.skipped, this.#lastSeq) : COMMENT
    response.write(reset + start)
    if (missed.items.length > 0) subscriber.entries(missed.items.map(summarize), missed.skipped)
    this.#open.add(stream)
    this.#scheduleComments()
    return undefined
  }

  recordsStored(kind: RecordKind, records: readonly IndexedRecord[]): void {
    this.#lastSeq = records.at(-1)?.seq ?? this.#lastSeq
    for (const { matches, summarize, subscriber } of this.#open) {
      if (kind !== 'entry') subscriber.changed(kind)
      else
        subscriber.entries((records as readonly IndexedEntry[]).filter(matches).map(({ record }) => summarize(record)))
    }
  }

  reset(): void {
    this.#resetSeq = this.#lastSeq
    for (const { subscriber } of this.#open) subscriber.reset(this.#resetSeq)
  }

  close(): void {
    this.#cancelComments?.()
    for (const { subscriber, response } of this.#open) {
      subscriber.close()
      response.end()
    }
    this.#open.clear()
  }

  /** Sends comments to keep idle connections open. */
  #scheduleComments(): void {
    this.#cancelComments ??= this.#dependencies.clock.timer(COMMENT_INTERVAL_MS, () => {
      this.#cancelComments = undefined
      for (const { subscriber } of this.#open) subscriber.comment()
      if (this.#open.size > 0) this.#scheduleComments()
    })
  }
}
