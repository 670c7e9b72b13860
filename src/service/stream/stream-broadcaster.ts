/** `GET /local/stream`: who reads, what each of them wants, and the end of those who are gone. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { summarizeEntry } from '../query/entry-summary.js'
import { COMMENT } from './server-sent-events.js'
import { STREAM_HEADERS } from '../http/response-headers.js'
import { parseEntryFilter, matches } from '../query/query-filters.js'
import type { ParsedEntryFilter, EntryFilter } from '../query/query-filters.js'
import type { StoreReader } from '../query/store-reader.js'
import { createFailure } from '../http/service-reply.js'
import type { Reply } from '../http/service-reply.js'
import type { Schedule } from '../schedule.js'
import type { Stored, StoredEntry } from '../store/store.js'
import { formatEntries, MAX_WAITING_ENTRIES, formatReset, StreamSubscriber } from './stream-subscriber.js'
import type { ChangedKind, StreamItem } from './stream-subscriber.js'

export const MAX_STREAMS = 32
const COMMENT_INTERVAL_MS = 15_000
/** A reader that takes nothing for so many comments holds its place for nothing; a live one comes back and resumes. */
const MAX_MISSED_COMMENTS = 4

export interface BroadcasterDependencies {
  readonly reader: Pick<StoreReader, 'entriesAfter'>
  /** The greatest `seq` there is at the start. */
  readonly lastSeq: number
  readonly after: Schedule
  readonly now: () => number
}

export interface StreamQuery {
  readonly filter: EntryFilter
  /** What came later than this is sent first; undefined: only what comes from now on. */
  readonly afterSeq: number | undefined
}

interface Open {
  readonly filter: ParsedEntryFilter
  readonly reader: StreamSubscriber
  readonly response: ServerResponse
  missedComments: number
}

export class StreamBroadcaster {
  readonly #parts: BroadcasterDependencies
  readonly #open = new Set<Open>()
  #lastSeq: number
  /** Of the last before everything was forgotten. */
  #resetSeq = 0
  #cancelComments: (() => void) | undefined

  constructor(parts: BroadcasterDependencies) {
    this.#parts = parts
    this.#lastSeq = parts.lastSeq
  }

  /**
   * Answers with the stream, or returns the reply to who cannot have one.
   * @throws IngestServiceError `QUERY`, `STORE` as the queries do.
   */
  open(request: IncomingMessage, response: ServerResponse, query: StreamQuery): Reply | undefined {
    if (this.#open.size >= MAX_STREAMS) {
      const advice = 'close a page or a `pino-ingest tail` that is not needed'
      return createFailure(503, `${MAX_STREAMS} streams are open, more are not served: ${advice}`, 'overloaded', {
        'retry-after': '5',
      })
    }
    const filter = parseEntryFilter(query.filter)
    const { afterSeq = this.#lastSeq } = query
    // A number that was never given, or one from before: it is of another run, or of what was forgotten since. Who knows of
    // nothing (0) has nothing to forget.
    const isStale = afterSeq > this.#lastSeq || (afterSeq > 0 && afterSeq < this.#resetSeq)
    const missed =
      afterSeq === this.#lastSeq
        ? { items: [], skipped: 0 }
        : this.#parts.reader.entriesAfter(isStale ? this.#resetSeq : afterSeq, query.filter, MAX_WAITING_ENTRIES)

    response.writeHead(200, STREAM_HEADERS)
    if (request.method === 'HEAD') {
      response.end()
      return undefined
    }
    const reader = new StreamSubscriber({ ...this.#parts, write: (text) => response.write(text) })
    const open: Open = { filter, reader, response, missedComments: 0 }
    response.on('drain', () => reader.drained())
    response.once('close', () => this.#forget(open))
    const reset = isStale ? formatReset(this.#resetSeq) : ''
    // With an id, so that a reader that is cut off before anything comes can resume too.
    const start = missed.items.length === 0 ? formatEntries([], missed.skipped, this.#lastSeq) : COMMENT
    response.write(reset + start)
    if (missed.items.length > 0) reader.entries(missed.items.map(lineOf), missed.skipped)
    this.#open.add(open)
    this.#planComments()
    return undefined
  }

  entries(records: readonly StoredEntry[]): void {
    this.#lastSeq = records.at(-1)?.seq ?? this.#lastSeq
    if (this.#open.size === 0) return
    const lines: (StreamItem | undefined)[] = []
    for (const { filter, reader } of this.#open) {
      const wanted: StreamItem[] = []
      for (const [at, record] of records.entries()) {
        if (matches(filter, record.entry)) wanted.push((lines[at] ??= lineOf(record)))
      }
      reader.entries(wanted)
    }
  }

  changed(kind: ChangedKind, records: readonly Stored[]): void {
    this.#lastSeq = records.at(-1)?.seq ?? this.#lastSeq
    for (const { reader } of this.#open) reader.changed(kind)
  }

  reset(): void {
    this.#resetSeq = this.#lastSeq
    for (const { reader } of this.#open) reader.reset(this.#resetSeq)
  }

  close(): void {
    this.#cancelComments?.()
    for (const open of this.#open) {
      open.reader.close()
      open.response.end()
    }
    this.#open.clear()
  }

  #forget(open: Open): void {
    open.reader.close()
    this.#open.delete(open)
  }

  #planComments(): void {
    this.#cancelComments ??= this.#parts.after(COMMENT_INTERVAL_MS, () => {
      this.#cancelComments = undefined
      for (const open of this.#open) comment(open)
      if (this.#open.size > 0) this.#planComments()
    })
  }
}

function comment(open: Open): void {
  open.missedComments = open.reader.isFull ? open.missedComments + 1 : 0
  if (open.missedComments > MAX_MISSED_COMMENTS) open.response.destroy()
  else open.reader.comment()
}

function lineOf(record: StoredEntry): StreamItem {
  return { seq: record.seq, json: JSON.stringify(summarizeEntry(record)) }
}
