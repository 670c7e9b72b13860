/** Stores records in bounded memory and optionally in a journal. All calls are synchronous. */
import { INDEXERS } from './indexed-record.js'
import type { IndexedRecord, IndexedRecords } from './indexed-record.js'
import { formatJournalLine, Journal } from './journal.js'
import { Ring } from './ring.js'
import { Runs } from './runs.js'
import type { StoreFile } from './store-file.js'
import { RECORD_KINDS } from './stored-record.js'
import type { RecordKind, Records } from './stored-record.js'
import { TimeIndex } from './time-index.js'

const MAX_OTHER_RECORDS = 10_000
/** The journal is rewritten when its size exceeds twice the stored bytes plus 4 MiB. */
const COMPACT_SLACK_BYTES = 4 << 20

export interface StoreOptions {
  /** Maximum number of entries, and of request logs. For other kinds it is 10,000. */
  readonly maxEntries: number
  /** Maximum bytes of JSON and search text, for entries and for each other kind. */
  readonly maxBytes: number
  /** The journal. Default: records are only in memory. */
  readonly file?: StoreFile | undefined
  readonly compactSlackBytes?: number
  readonly onProblem: (message: string) => void
}

type Rings = { readonly [K in RecordKind]: Ring<IndexedRecords[K]> }

/** Kinds whose records have their own timestamp. */
export type TimedKind = 'entry' | 'request'

export class Store {
  readonly #rings: Rings
  readonly #times: { readonly [K in TimedKind]: TimeIndex<IndexedRecords[K]> } = {
    entry: new TimeIndex(),
    request: new TimeIndex(),
  }
  readonly runs = new Runs()
  readonly #journal: Journal | undefined
  readonly #slackBytes: number
  #lastSeq = 0
  #revision = 0
  /** Earliest time of receipt of a record in the journal. */
  #earliestInFileMs = Infinity

  /** @throws IngestServiceError `STORE` if the file cannot be used. */
  constructor(options: StoreOptions) {
    const { maxEntries, maxBytes, file, compactSlackBytes = COMPACT_SLACK_BYTES, onProblem } = options
    this.#rings = {
      entry: new Ring(maxEntries, maxBytes, (entry) => this.#removeEntry(entry)),
      request: new Ring(maxEntries, maxBytes, (request) => this.#times.request.remove(request)),
      feedback: new Ring(MAX_OTHER_RECORDS, maxBytes),
      release: new Ring(MAX_OTHER_RECORDS, maxBytes),
      heartbeat: new Ring(MAX_OTHER_RECORDS, maxBytes),
      rejected: new Ring(MAX_OTHER_RECORDS, maxBytes),
    }
    this.#slackBytes = compactSlackBytes
    if (file === undefined) return
    this.#journal = new Journal(file, {
      onRecord: (kind, record, bytes) => this.#add(kind, record as never, bytes),
      onLastSeq: (seq) => (this.#lastSeq = Math.max(this.#lastSeq, seq)),
      onProblem,
    })
    this.#compact()
  }

  /** @param bytes approximate size of these records as JSON @returns the stored records */
  append<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): readonly IndexedRecords[K][] {
    this.#revision++
    if (this.#journal === undefined) return records.map((record) => this.#add(kind, record, bytes / records.length))
    const lines = records.map((record) => formatJournalLine(kind, record))
    const added = records.map((record, at) => this.#add(kind, record, Buffer.byteLength(lines[at] as string)))
    this.#journal.append(lines.join(''))
    this.#compact()
    return added
  }

  /** Returns records sorted by their own timestamp. The other lists are in order of arrival. */
  byTime<K extends TimedKind>(kind: K): TimeIndex<IndexedRecords[K]> {
    return this.#times[kind]
  }

  oldestFirst<K extends RecordKind>(kind: K): readonly IndexedRecords[K][] {
    return this.#rings[kind].oldestFirst()
  }

  newestFirst<K extends RecordKind>(kind: K): Iterable<IndexedRecords[K]> {
    return this.#rings[kind].newestFirst()
  }

  findNewest<K extends RecordKind>(
    kind: K,
    isWanted: (indexed: IndexedRecords[K]) => boolean,
  ): IndexedRecords[K] | undefined {
    for (const indexed of this.newestFirst(kind)) if (isWanted(indexed)) return indexed
    return undefined
  }

  recordCounts(): Record<RecordKind, number> {
    const counts = RECORD_KINDS.map((kind) => [kind, this.#rings[kind].count])
    return Object.fromEntries(counts) as Record<RecordKind, number>
  }

  /** The greatest known `seq`; 0 if nothing was ever stored. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Changes whenever records are stored or deleted. */
  get revision(): number {
    return this.#revision
  }

  /** Deletes records of every kind received before this time, also from the journal. */
  deleteOlder(receivedBeforeMs: number): void {
    this.#revision++
    for (const kind of RECORD_KINDS) this.#rings[kind].deleteOlder(receivedBeforeMs)
    if (this.#earliestInFileMs < receivedBeforeMs) this.#rewrite()
  }

  clear(): void {
    this.#revision++
    for (const kind of RECORD_KINDS) this.#rings[kind].clear()
    this.#times.entry.clear()
    this.#times.request.clear()
    this.runs.clear()
    this.#rewrite()
  }

  close(): void {
    this.#journal?.close()
  }

  #add<K extends RecordKind>(kind: K, record: Records[K], bytes: number): IndexedRecords[K] {
    const indexed = INDEXERS[kind](record, bytes)
    if (kind === 'entry') this.#addEntry(indexed as IndexedRecords['entry'])
    if (kind === 'request') this.#times.request.insert(indexed as IndexedRecords['request'])
    // The time index must have the record before `push`, which may drop it immediately.
    this.#rings[kind].push(indexed)
    this.#earliestInFileMs = Math.min(this.#earliestInFileMs, indexed.receivedMs)
    this.#lastSeq = Math.max(this.#lastSeq, record.seq)
    return indexed
  }

  #addEntry(entry: IndexedRecords['entry']): void {
    entry.run = this.runs.add(entry.record.entry, entry.timeMs)
    this.#times.entry.insert(entry)
  }

  #removeEntry(entry: IndexedRecords['entry']): void {
    this.runs.remove(entry.run)
    this.#times.entry.remove(entry)
  }

  #compact(): void {
    const bytes = RECORD_KINDS.reduce((sum, kind) => sum + this.#rings[kind].bytes, 0)
    if (this.#journal !== undefined && this.#journal.bytes > 2 * bytes + this.#slackBytes) this.#rewrite()
  }

  #rewrite(): void {
    this.#earliestInFileMs = Infinity
    this.#journal?.rewrite(this.#lines(), this.#lastSeq)
  }

  *#lines(): Generator<string> {
    for (const kind of RECORD_KINDS) {
      for (const { record, receivedMs } of this.#rings[kind].oldestFirst() as readonly IndexedRecord[]) {
        this.#earliestInFileMs = Math.min(this.#earliestInFileMs, receivedMs)
        yield formatJournalLine(kind, record)
      }
    }
  }
}
