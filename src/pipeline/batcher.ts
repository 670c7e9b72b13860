/** Entries -> batches of at most `batch.size`, each one request body under one `batch_id`. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../shared/clock.js'
import type { EntryLog, StoredBatch } from '../spool/entry-log.js'
import type { Batch } from '../batch/sender.js'
import type { BatchSettings } from '../options/settings.js'

export interface BatcherOptions {
  readonly batch: BatchSettings
  readonly clock: Clock
  readonly onBatch: (batch: Batch) => void
  readonly log?: EntryLog | undefined
  /** Whether a stored batch of this size will wait only on disk. Such a batch is passed on without its body. */
  readonly canStayOnDisk?: (bytes: number) => boolean
  /** Must need no escaping in JSON. Default `crypto.randomUUID`. */
  readonly newId?: () => string
}

/** A batch in the buffer. Offsets are those of the buffer. */
interface BufferedBatch {
  batchId: string
  count: number
  highestSeverity: number
  /** Of the body. */
  readonly start: number
  /** Of its first entry. */
  readonly entriesAt: number
  /** Of the end of its last entry. */
  end: number
  /** Of the end of the entries that were passed to the log. */
  loggedEnd: number
  loggedCount: number
  /** After each `append`: number of entries, and the offset of their end. */
  appends: { readonly count: number; readonly end: number }[]
}

/** A batch that may be passed on. */
interface ReadyBatch {
  readonly batch: Pick<BufferedBatch, 'batchId' | 'highestSeverity' | 'start' | 'end'>
  readonly stored: StoredBatch
  /** Set if the buffer no longer contains it. */
  readonly body?: Buffer
}

interface AddedEntry {
  readonly entryJson: string
  readonly severity: number
}

const ID_AT = '{"batch_id":"'.length
const INITIAL_BYTES = 64 * 1024
/** A UTF-16 unit becomes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3
const COMMA = 0x2c
/** UTF-16 units that are encoded at once. Encoding each entry of 200 bytes alone takes 0.15 us longer per entry; a longer group is not faster. */
const GROUP_UNITS = 4 * 1024
/** Bytes per `append`. Damage on disk costs at least this much; a quarter of it would cost 5 % more of the worker's time. */
const LOG_BYTES = 32 * 1024
/** Sealed batches of one turn are written together up to this size. A write of 22 KB takes 14 us, one of 256 KB 60 us. */
const COMMIT_BYTES = 256 * 1024
/** After a pause a batch waits only this long: entries that are logged together arrive within it. */
const LINGER_MS = 50
const NO_BODY = Buffer.alloc(0)
const CLOSING = Buffer.from(']}')
/** A comma before an entry, and the end of the body. */
const AROUND_BYTES = 1 + CLOSING.length

/**
 * Writes entries as UTF-8 in the turn in which they arrive: a string stored until the seal would retain the whole chunk that it is a slice of.
 * All batches use one buffer. A sealed batch is passed on by `commit`, and its body is copied from the buffer then, so that a waiting batch
 * uses only the memory of its own bytes. The copy costs about 2 us a batch of 25 KB.
 */
export class Batcher {
  readonly #options: BatcherOptions
  readonly #newId: () => string
  #buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  /** Number of bytes in use. */
  #used = 0
  #open: BufferedBatch | undefined
  /** Entries of the open batch that are not yet encoded, comma-separated. */
  #text = ''
  /** Oldest first; not yet written completely. */
  #sealed: BufferedBatch[] = []
  readonly #ready: ReadyBatch[] = []
  /** Entries that a listener of the log added during a call of the log. */
  readonly #late: AddedEntry[] = []
  #isLogging = false
  #isCommitted = true
  #dueAt = 0
  #cutAt = -Infinity
  #cancelTimer: (() => void) | undefined

  constructor(options: BatcherOptions) {
    this.#options = options
    this.#newId = options.newId ?? randomUUID
  }

  /** Entries that were not yet passed to `onBatch`. */
  get pendingEntries(): number {
    let entries = this.#late.length + (this.#open?.count ?? 0)
    for (const { count } of this.#sealed) entries += count
    for (const { stored } of this.#ready) entries += stored.count
    return entries
  }

  /** Bytes of the body of the open batch, if it were sealed now. */
  get pendingBytes(): number {
    const open = this.#open
    if (open === undefined) return 0
    this.#encode(open)
    return toBytes(open)
  }

  /**
   * @param entryJson one entry as JSON
   * @param severity 0 (debug) to 4 (fatal)
   */
  add(entryJson: string, severity: number): void {
    if (this.#isLogging) {
      this.#late.push({ entryJson, severity })
      return
    }
    this.#add(entryJson, severity)
    if (this.#late.length > 0) this.#addLate()
    if (this.#open === undefined && this.#used >= COMMIT_BYTES) this.commit()
  }

  /**
   * Writes all added entries to disk, synchronously: a process without CPU time may be killed before a timer fires. Then passes on the
   * sealed batches. Called at the end of each turn that adds entries.
   */
  commit(): void {
    if (this.#isLogging) return
    while (!this.#isCommitted) {
      this.#isCommitted = true
      this.#write()
      this.#addLate()
    }
    this.#handOver()
  }

  /** Seals the open batch, if there is one, and passes on all sealed batches. */
  seal(): void {
    if (this.#isLogging) return
    while (this.#open !== undefined) {
      this.#seal(this.#open)
      this.#addLate()
    }
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.commit()
  }

  #addLate(): void {
    for (let next = this.#late.shift(); next !== undefined; next = this.#late.shift())
      this.#add(next.entryJson, next.severity)
  }

  #add(entryJson: string, severity: number): void {
    if (this.#open !== undefined && !this.#fits(this.#open, entryJson)) this.#seal(this.#open)
    const open = (this.#open ??= this.#begin())
    if (severity > open.highestSeverity) open.highestSeverity = severity
    open.count += 1
    this.#isCommitted = false
    this.#text = this.#text === '' ? entryJson : `${this.#text},${entryJson}`
    if (this.#text.length >= GROUP_UNITS) this.#encode(open)
    if (open.count >= this.#options.batch.size || !this.#fits(open, '')) this.#seal(open)
  }

  /** Whether another entry fits. Counts bytes only if the worst case would not fit. */
  #fits(open: BufferedBatch, entryJson: string): boolean {
    const most = this.#options.batch.bytes - CLOSING.length - 1 + open.start
    if (open.end + (this.#text.length + 1 + entryJson.length) * MAX_BYTES_PER_UNIT <= most) return true
    this.#encode(open)
    return open.end + Buffer.byteLength(entryJson) <= most
  }

  #encode(open: BufferedBatch): void {
    const text = this.#text
    if (text === '') return
    this.#text = ''
    this.#reserve(text)
    if (open.end > open.entriesAt) this.#buffer[open.end++] = COMMA
    open.end += this.#buffer.write(text, open.end)
    this.#used = open.end
    if (open.end - open.loggedEnd >= LOG_BYTES) this.#append(open)
  }

  #reserve(text: string): void {
    const left = this.#buffer.length - this.#used - AROUND_BYTES
    if (text.length * MAX_BYTES_PER_UNIT <= left) return
    const needed = this.#used + AROUND_BYTES + Buffer.byteLength(text)
    if (needed <= this.#buffer.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#buffer.length))
    this.#buffer.copy(grown, 0, 0, this.#used)
    this.#buffer = grown
  }

  #begin(): BufferedBatch {
    const {
      clock,
      batch: { intervalMs },
    } = this.#options
    const now = clock.now()
    // At less than one batch per interval, one request is sent per interval.
    this.#dueAt = Math.min(Math.max(now + LINGER_MS, this.#cutAt + intervalMs), now + intervalMs)
    // A timer of an earlier batch fires no later.
    this.#cancelTimer ??= clock.timer(this.#dueAt - now, this.#onTimer)
    const batchId = this.#newId()
    const head = `{"batch_id":"${batchId}","logs":[`
    this.#reserve(head)
    const start = this.#used
    const end = (this.#used += this.#buffer.write(head, start))
    return {
      batchId,
      count: 0,
      highestSeverity: 0,
      start,
      entriesAt: end,
      end,
      loggedEnd: end,
      loggedCount: 0,
      appends: [],
    }
  }

  #seal(open: BufferedBatch): void {
    this.#encode(open)
    this.#open = undefined
    this.#used = open.end + CLOSING.copy(this.#buffer, open.end)
    this.#sealed.push(open)
    this.#append(open)
    this.#sealInLog(open)
    this.#cutAt = this.#options.clock.now()
    this.#isCommitted = false
  }

  /** Passes entries to the log that were not yet passed to it. */
  #append(batch: BufferedBatch): void {
    const { log } = this.#options
    const { batchId, count, loggedCount, loggedEnd, highestSeverity, end } = batch
    if (log === undefined || loggedCount === count) return
    const text = this.#buffer.subarray(loggedCount === 0 ? loggedEnd : loggedEnd + 1, end) // after the comma
    batch.loggedEnd = end
    batch.loggedCount = count
    batch.appends.push({ count, end })
    this.#isLogging = true
    log.append(batchId, loggedCount, count - loggedCount, highestSeverity, text)
    this.#isLogging = false
  }

  #sealInLog(batch: BufferedBatch): void {
    const { log } = this.#options
    if (log === undefined) return
    for (;;) {
      this.#isLogging = true
      const isSealed = log.seal(batch.batchId, batch.count, toBytes(batch))
      this.#isLogging = false
      if (isSealed) return
      this.#appendAgain(batch)
    }
  }

  #write(): void {
    if (this.#open !== undefined) {
      this.#encode(this.#open)
      this.#append(this.#open)
    }
    this.#flush()
    for (const batch of this.#sealed.splice(0)) {
      const stored = this.#options.log?.finish(batch.batchId) ?? { count: batch.count }
      if (stored.count === batch.count) this.#ready.push({ batch, stored })
      else this.#split(batch, stored)
    }
  }

  #flush(): void {
    const { log } = this.#options
    if (log === undefined) return
    for (;;) {
      this.#isLogging = true
      const isKept = log.flush()
      this.#isLogging = false
      if (isKept) return
      this.#restart()
    }
  }

  /** Only the first entries of the batch are on disk: the others become a batch under a new id. */
  #split(batch: BufferedBatch, stored: StoredBatch): void {
    const { start, entriesAt, appends, count } = batch
    const end = appends.find((append) => append.count === stored.count)?.end as number
    const first = Buffer.concat([this.#buffer.subarray(start, end), CLOSING])
    const batchId = this.#newId()
    const others = Buffer.concat([
      this.#buffer.subarray(start, entriesAt),
      this.#buffer.subarray(end + 1, batch.end), // after the comma
      CLOSING,
    ])
    others.write(batchId, ID_AT)
    this.#ready.push(
      { batch, stored, body: first },
      { batch: { ...batch, batchId }, stored: { count: count - stored.count }, body: others },
    )
  }

  /** Passes all batches to the log again, under new ids: two batches with one id must not differ. */
  #restart(): void {
    for (const batch of this.#sealed) {
      this.#appendAgain(batch)
      this.#sealInLog(batch)
    }
    if (this.#open !== undefined) this.#appendAgain(this.#open)
  }

  #appendAgain(batch: BufferedBatch): void {
    batch.batchId = this.#newId()
    this.#buffer.write(batch.batchId, batch.start + ID_AT)
    batch.loggedEnd = batch.entriesAt
    batch.loggedCount = 0
    batch.appends = []
    this.#append(batch)
  }

  /** A listener may add entries meanwhile, and commit them. */
  #handOver(): void {
    const { canStayOnDisk, onBatch } = this.#options
    for (let next = this.#ready.shift(); next !== undefined; next = this.#ready.shift()) {
      const { batch, stored } = next
      const bytes = toBytes(batch)
      // A batch that will be read back from disk needs no copy in memory.
      const isOnDiskOnly = stored.place !== undefined && canStayOnDisk?.(bytes) === true
      const body =
        next.body ?? (isOnDiskOnly ? NO_BODY : copyOf(this.#buffer.subarray(batch.start, batch.start + bytes)))
      onBatch({ batchId: batch.batchId, highestSeverity: batch.highestSeverity, body, ...stored })
    }
    if (this.#open === undefined && this.#sealed.length === 0 && this.#ready.length === 0) this.#reset()
  }

  #reset(): void {
    this.#used = 0
    // Releases the memory of a very large entry.
    const usual = COMMIT_BYTES + 2 * this.#options.batch.bytes
    if (this.#buffer.length > usual) this.#buffer = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  }

  /** A timer may fire before a very long interval is over (see `Clock`), so the age decides. */
  readonly #onTimer = (): void => {
    this.#cancelTimer = undefined
    const { clock } = this.#options
    const leftMs = this.#open === undefined ? 0 : this.#dueAt - clock.now()
    if (leftMs > 0) this.#cancelTimer = clock.timer(leftMs, this.#onTimer)
    else this.seal()
  }
}

/** Bytes of the body. */
function toBytes({ start, end }: Pick<BufferedBatch, 'start' | 'end'>): number {
  return end - start + CLOSING.length
}

function copyOf(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
