/** Everything in bounded memory, with an optional journal behind it. */
import type { Level } from '../../protocol/entry.js'
import { seqOfId } from '../ids.js'
import { checkFilter, cursorSeq, eventIdOf, limitOf, matches } from '../queries.js'
import type { EntryFilter, EntryQuery } from '../queries.js'
import { Journal, journalLine } from './journal.js'
import { Ring } from './ring.js'
import { limitsOf, RECORD_KINDS } from './store.js'
import type { LevelCounts, Page, PageQuery, RecordKind, Records, Store, StoredEntry } from './store.js'
import type { Stored, StoredRelease, StoreLimits } from './store.js'

/** The journal is rewritten when it holds twice what is kept and this much more. */
const COMPACT_SLACK_BYTES = 4 << 20

export interface MemoryStoreOptions extends StoreLimits {
  /** The journal; without it nothing outlives the process. */
  readonly file?: string
  /** Bytes beyond twice what is kept before the journal is rewritten. Default 4 MiB. */
  readonly compactSlackBytes?: number
  readonly onProblem: (message: string) => void
}

type Rings = { readonly [K in RecordKind]: Ring<Records[K]> }

export class MemoryStore implements Store {
  readonly kind = 'memory'
  readonly #rings: Rings
  readonly #journal: Journal | undefined
  readonly #slackBytes: number
  #lastSeq = 0

  /** @throws IngestServiceError `STORE` where the file cannot be used. */
  constructor(options: MemoryStoreOptions) {
    const ring = <K extends RecordKind>(kind: K): Ring<Records[K]> => {
      const { maxCount, maxBytes } = limitsOf(kind, options)
      return new Ring(maxCount, maxBytes)
    }
    this.#rings = {
      entry: ring('entry'),
      request: ring('request'),
      feedback: ring('feedback'),
      release: ring('release'),
      heartbeat: ring('heartbeat'),
      rejected: ring('rejected'),
    }
    this.#slackBytes = options.compactSlackBytes ?? COMPACT_SLACK_BYTES
    if (options.file === undefined) return
    const visit = (kind: RecordKind, record: Stored, bytes: number): void => this.#keep(kind, record as never, bytes)
    this.#journal = new Journal(options.file, visit, options.onProblem)
    this.#compact()
  }

  append<K extends RecordKind>(kind: K, records: readonly Records[K][], bytes: number): void {
    if (this.#journal === undefined) {
      for (const record of records) this.#keep(kind, record, bytes / records.length)
      return
    }
    let lines = ''
    let total = 0
    for (const record of records) {
      const line = journalLine(kind, record)
      const lineBytes = Buffer.byteLength(line)
      this.#keep(kind, record, lineBytes)
      lines += line
      total += lineBytes
    }
    this.#journal.append(lines, total)
    this.#compact()
  }

  list<K extends RecordKind>(kind: K, { limit, cursor }: PageQuery): Page<Records[K]> {
    return pageOf(this.#rings[kind].newestFirst(cursorSeq(cursor)), limitOf(limit), () => true)
  }

  entries({ limit, cursor, ...filter }: EntryQuery): Page<StoredEntry> {
    const checked = checkFilter(filter)
    const records = this.#rings.entry.newestFirst(cursorSeq(cursor))
    return pageOf(records, limitOf(limit), ({ entry }) => matches(checked, entry))
  }

  counts(filter: EntryFilter): LevelCounts {
    const checked = checkFilter(filter)
    const counts: Record<Level | 'total', number> = { debug: 0, info: 0, warn: 0, error: 0, fatal: 0, total: 0 }
    for (const { entry } of this.#rings.entry.oldestFirst()) {
      if (!matches(checked, entry)) continue
      counts[entry.level]++
      counts.total++
    }
    return counts
  }

  entry(id: string): StoredEntry | undefined {
    const record = this.#rings.entry.bySeq(seqOfId(id))
    return record?.id === id ? record : undefined
  }

  entryOfEvent(eventId: string): StoredEntry | undefined {
    for (const record of this.#rings.entry.newestFirst()) {
      if (record.id === eventId || eventIdOf(record.entry) === eventId) return record
    }
    return undefined
  }

  releaseOfVersion(version: string): StoredRelease | undefined {
    for (const record of this.#rings.release.newestFirst()) if (record.release.version === version) return record
    return undefined
  }

  lastSeq(): number {
    return this.#lastSeq
  }

  clear(): void {
    for (const kind of RECORD_KINDS) this.#rings[kind].clear()
    this.#journal?.rewrite([])
  }

  close(): void {
    this.#journal?.close()
  }

  #keep<K extends RecordKind>(kind: K, record: Records[K], bytes: number): void {
    this.#rings[kind].push(record, bytes)
    if (record.seq > this.#lastSeq) this.#lastSeq = record.seq
  }

  #compact(): void {
    const journal = this.#journal
    if (journal === undefined) return
    const kept = RECORD_KINDS.reduce((sum, kind) => sum + this.#rings[kind].bytes, 0)
    if (journal.bytes > 2 * kept + this.#slackBytes) journal.rewrite(this.#lines())
  }

  *#lines(): Generator<string> {
    for (const kind of RECORD_KINDS) {
      for (const record of this.#rings[kind].oldestFirst()) yield journalLine(kind, record)
    }
  }
}

/** One item more than the limit is looked for, so that the last page says that it is the last. */
function pageOf<T extends Stored>(records: Iterable<T>, limit: number, wanted: (record: T) => boolean): Page<T> {
  const items: T[] = []
  for (const record of records) {
    if (!wanted(record)) continue
    if (items.length === limit) return { items, next: String((items.at(-1) as T).seq) }
    items.push(record)
  }
  return { items, next: null }
}
