/** The records of the service: in bounded memory, and in a journal if a file is given. All calls are synchronous. */
import { INDEXERS } from './indexed-record.js'
import type { IndexedRecord, IndexedRecords } from './indexed-record.js'
import { formatJournalLine, Journal } from './journal.js'
import { Ring } from './ring.js'
import type { StoreFile } from './store-file.js'
import { RECORD_KINDS } from './stored-record.js'
import type { RecordKind, Records } from './stored-record.js'

const MAX_OTHER_RECORDS = 10_000
/** The journal is rewritten when its size exceeds twice the stored bytes plus this number. */
const COMPACT_SLACK_BYTES = 4 << 20

export interface StoreOptions {
  /** Maximum of entries, and of request logs. For every other kind it is 10,000. */
  readonly maxEntries: number
  /** Bytes of JSON and search text, for entries and for each other kind. */
  readonly maxBytes: number
  /** The journal. Default: nothing is kept after the process ends. */
  readonly file?: StoreFile | undefined
  readonly compactSlackBytes?: number
  readonly onProblem: (message: string) => void
}

type Rings = { readonly [K in RecordKind]: Ring<IndexedRecords[K]> }

export class Store {
  readonly #rings: Rings
  readonly #journal: Journal | undefined
  readonly #slackBytes: number
  #lastSeq = 0
  /** Earliest time at which a record in the journal was received. */
  #earliestInFileMs = Infinity

  /** @throws IngestServiceError `STORE` if the file cannot be used. */
  constructor(options: StoreOptions) {
    const { maxEntries, maxBytes, file, compactSlackBytes = COMPACT_SLACK_BYTES, onProblem } = options
    this.#rings = {
      entry: new Ring(maxEntries, maxBytes),
      request: new Ring(maxEntries, maxBytes),
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

  /** `bytes` is the approximate size of these records as JSON. */
  append<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): void {
    if (this.#journal === undefined) {
      for (const record of records) this.#add(kind, record, bytes / records.length)
      return
    }
    const lines = records.map((record) => formatJournalLine(kind, record))
    for (const [at, record] of records.entries()) this.#add(kind, record, Buffer.byteLength(lines[at] as string))
    this.#journal.append(lines.join(''))
    this.#compact()
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

  /** The greatest `seq` that was ever stored, as far as is known; 0 if there was none. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** Removes records of every kind that were received earlier, from the file too. */
  deleteOlder(receivedBeforeMs: number): void {
    for (const kind of RECORD_KINDS) this.#rings[kind].deleteOlder(receivedBeforeMs)
    if (this.#earliestInFileMs < receivedBeforeMs) this.#rewrite()
  }

  clear(): void {
    for (const kind of RECORD_KINDS) this.#rings[kind].clear()
    this.#rewrite()
  }

  close(): void {
    this.#journal?.close()
  }

  #add<K extends RecordKind>(kind: K, record: Records[K], bytes: number): void {
    const indexed = INDEXERS[kind](record, bytes)
    this.#rings[kind].push(indexed)
    this.#earliestInFileMs = Math.min(this.#earliestInFileMs, indexed.receivedMs)
    this.#lastSeq = Math.max(this.#lastSeq, record.seq)
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
