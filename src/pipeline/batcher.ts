/** Collects entries in batches of at most `batch.size`. Each batch is one request body with one `batch_id`. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../shared/clock.js'
import type { EntryLog } from '../spool/entry-log.js'
import type { Batch } from '../batch/batch.js'
import type { EntryBytes } from '../record/mapped-record.js'
import type { BatchSettings } from '../options/settings.js'
import { BATCH_BYTES } from '../options/size-limits.js'

export interface BatcherOptions {
  readonly batch: BatchSettings
  readonly clock: Clock
  readonly onBatch: (batch: Batch) => void
  readonly log?: EntryLog | undefined
  /**
   * Whether a stored batch of this size will wait only on disk. Such a batch is passed to `onBatch` without its body.
   */
  readonly canStayOnDisk?: (bytes: number) => boolean
  /** The id must not need escaping in JSON. Default `crypto.randomUUID`. */
  readonly newId?: () => string
}

const ID_AT = '{"batch_id":"'.length
/** Of a body, with a UUID. */
const HEAD_BYTES = ID_AT + 36 + '","logs":['.length
const INITIAL_BYTES = 64 * 1024
/** A UTF-16 unit becomes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3
const COMMA = 0x2c
/**
 * UTF-16 units encoded at once. Encoding each entry of 200 bytes individually takes 0.15 us longer per entry; a longer
 * group is not faster. Every `commit` encodes the rest.
 */
const GROUP_UNITS = 4 * 1024
/**
 * Bytes per `append`. Damage on disk loses at least this much; a quarter of it would take 5 % more of the worker's
 * time.
 */
const LOG_BYTES = 32 * 1024
/** After a pause, a batch waits only this long, since entries logged together arrive within this time. */
const LINGER_MS = 50
/**
 * Wait of the first batch. Entries logged while the worker started arrive together, and a short script is acknowledged
 * earlier.
 */
const FIRST_LINGER_MS = 20
const NO_BODY = Buffer.alloc(0)
const NONE: readonly Batch[] = []
const CLOSING = Buffer.from(']}')

/**
 * Writes entries as UTF-8 in the turn in which they arrive: a string stored until the seal would retain the whole chunk
 * that it is a slice of. All batches share one scratch buffer, which is copied at the seal, so a waiting batch uses
 * only its own bytes. The copy takes about 2 us for a batch of 25 KB.
 */
export class Batcher {
  readonly #options: BatcherOptions
  readonly #newId: () => string
  /** Maximum bytes of a body. */
  #maxBytes = BATCH_BYTES
  #scratch = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #batchId = ''
  /** Bytes of the encoded entries, including the start of the body. */
  #length = HEAD_BYTES
  /** Entries not yet encoded, comma-separated. */
  #text = ''
  #count = 0
  #highestSeverity = 0
  #dueAt = 0
  #cutAt = -Infinity
  #cancelTimer: (() => void) | undefined
  /** Offset of the first entry in the body. */
  #headLength = HEAD_BYTES
  /** Number of bytes of the open batch already passed to the log. */
  #loggedLength = 0
  #loggedCount = 0
  /** The open batch after each `append`: number of entries, and the offset of their end. */
  #appends: { readonly count: number; readonly end: number }[] = []
  #isCommitted = true
  /** Whether the open batch is being sealed. An entry that a listener adds in the meantime is sealed, too. */
  #isCutting = false
  /** Entries of sealed batches not yet passed to `onBatch`. */
  #handingOver = 0

  constructor(options: BatcherOptions) {
    this.#options = options
    this.#newId = options.newId ?? randomUUID
  }

  /** Limits the size of later bodies, which never exceed the configured size. */
  limitBytes(bytes: number): void {
    this.#maxBytes = Math.min(BATCH_BYTES, bytes)
  }

  /** Entries not yet in a sealed batch. */
  get pendingEntries(): number {
    return this.#count + this.#handingOver
  }

  /** Size of the body if it were sealed now. */
  get pendingBytes(): number {
    this.#encode()
    return this.#count === 0 ? 0 : this.#length + CLOSING.length
  }

  /** Number of entries that fit into the open batch, at least 1. */
  get freeEntries(): number {
    return Math.max(1, this.#options.batch.size - this.#count)
  }

  /** Bytes that fit into it, without a comma before them. */
  get freeBytes(): number {
    this.#encode()
    // The limit may have been lowered since the batch was opened.
    return Math.max(0, this.#maxBytes - this.#length - CLOSING.length - 1)
  }

  /**
   * @param entry one entry as JSON, or several
   * @param severity 0 (debug) to 4 (fatal)
   */
  add(entry: string | EntryBytes, severity: number, count = 1): void {
    let added = entry
    let full = NONE
    if (this.#count > 0 && !this.#isCutting && !this.#fits(entry)) {
      // A listener may log, which overwrites the bytes.
      if (typeof entry !== 'string') added = copyEntry(entry)
      full = this.#cut()
    }
    if (this.#count === 0) this.#open()
    if (severity > this.#highestSeverity) this.#highestSeverity = severity
    if (typeof added === 'string') this.#text = this.#text === '' ? added : `${this.#text},${added}`
    else this.#copy(added)
    this.#count += count
    this.#isCommitted = false
    if (this.#text.length >= GROUP_UNITS) this.#encode()
    if (this.#length - this.#loggedLength >= LOG_BYTES) this.#log()
    // After adding the entry, because `onBatch` may read `pendingEntries` or add an entry.
    if (full !== NONE) this.#handOver(full)
    if (this.#count >= this.#options.batch.size || !this.#fits('')) this.#sealOpen()
  }

  /**
   * Writes all added entries to disk. Synchronous, because a process without CPU time may be killed before a timer
   * fires.
   */
  commit(): void {
    if (this.#isCommitted) return
    this.#log()
    while (this.#options.log?.flush() === false) this.#restartBatch()
    this.#isCommitted = true
  }

  seal(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#sealOpen()
  }

  #sealOpen(): void {
    if (this.#count > 0 && !this.#isCutting) this.#handOver(this.#cut())
  }

  #handOver(batches: readonly Batch[]): void {
    for (const batch of batches) {
      this.#handingOver -= batch.count
      this.#options.onBatch(batch)
    }
  }

  /** Whether another entry fits. Counts bytes only if the worst case would not fit. */
  #fits(entry: string | EntryBytes): boolean {
    const most = this.#maxBytes - CLOSING.length - 1
    const mostBytes = typeof entry === 'string' ? (entry.length + 1) * MAX_BYTES_PER_UNIT : entry.end - entry.start
    if (this.#length + this.#text.length * MAX_BYTES_PER_UNIT + mostBytes <= most) return true
    this.#encode()
    return this.#length + (typeof entry === 'string' ? Buffer.byteLength(entry) : mostBytes) <= most
  }

  #copy({ memory, start, end }: EntryBytes): void {
    this.#encode()
    const bytes = end - start
    this.#reserveBytes(bytes)
    if (this.#length > this.#headLength) this.#scratch[this.#length++] = COMMA
    memory.copy(this.#scratch, this.#length, start, end)
    this.#length += bytes
  }

  #encode(): void {
    const text = this.#text
    if (text === '') return
    this.#text = ''
    this.#reserve(text)
    if (this.#length > this.#headLength) this.#scratch[this.#length++] = COMMA
    this.#length += this.#scratch.write(text, this.#length)
  }

  #log(): void {
    const { log } = this.#options
    this.#encode()
    const first = this.#loggedCount
    if (log === undefined || first === this.#count) return
    const start = first === 0 ? this.#loggedLength : this.#loggedLength + 1 // after the comma
    // Set before the call, because a listener of the log may add an entry.
    this.#loggedLength = this.#length
    this.#loggedCount = this.#count
    this.#appends.push({ count: this.#count, end: this.#length })
    const text = this.#scratch.subarray(start, this.#length)
    log.append(this.#batchId, first, this.#count - first, this.#highestSeverity, text)
  }

  #reserve(entryJson: string): void {
    const around = 1 + CLOSING.length
    const left = this.#scratch.length - this.#length - around
    if (entryJson.length * MAX_BYTES_PER_UNIT <= left) return
    this.#reserveBytes(Buffer.byteLength(entryJson))
  }

  #reserveBytes(bytes: number): void {
    const needed = this.#length + 1 + CLOSING.length + bytes
    if (needed <= this.#scratch.length) return
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#scratch.length))
    this.#scratch.copy(grown, 0, 0, this.#length)
    this.#scratch = grown
  }

  #open(): void {
    const {
      clock,
      batch: { intervalMs },
    } = this.#options
    this.#batchId = this.#newId()
    this.#length = this.#scratch.write(`{"batch_id":"${this.#batchId}","logs":[`)
    this.#headLength = this.#loggedLength = this.#length
    const now = clock.now()
    // At low rates this sends at most one request per interval.
    const lingerMs = this.#cutAt === -Infinity ? FIRST_LINGER_MS : LINGER_MS
    this.#dueAt = Math.min(Math.max(now + lingerMs, this.#cutAt + intervalMs), now + intervalMs)
    // No batch is due before an earlier one would have been, so a timer that is set may stay.
    this.#cancelTimer ??= clock.timer(this.#dueAt - now, this.#onTimer)
  }

  #cut(): Batch[] {
    this.#isCutting = true
    this.#log()
    const batches: Batch[] = []
    while (this.#count > 0) {
      const sealed = this.#sealed()
      if (sealed === undefined) this.#restartBatch()
      else batches.push(sealed)
    }
    this.#isCutting = false
    this.#reset()
    this.#cutAt = this.#options.clock.now()
    // The seal wrote all open entries.
    this.#isCommitted = true
    return batches
  }

  /** @returns undefined if the batch must be restarted */
  #sealed(): Batch | undefined {
    const { log, canStayOnDisk: waitsOnDisk } = this.#options
    CLOSING.copy(this.#scratch, this.#length)
    const view = this.#scratch.subarray(0, this.#length + CLOSING.length)
    const batch: Batch = {
      batchId: this.#batchId,
      count: this.#count,
      highestSeverity: this.#highestSeverity,
      body: view,
    }
    const sealed = log === undefined ? batch : log.seal(batch)
    if (sealed === undefined) return undefined
    if (sealed.count < this.#count) return { ...sealed, body: this.#takeFirst(sealed.count) }
    this.#handingOver += this.#count
    this.#count = 0
    // A batch that will be read back from disk needs no copy in memory.
    return {
      ...sealed,
      body: sealed.place !== undefined && waitsOnDisk?.(view.length) === true ? NO_BODY : copyBytes(view),
    }
  }

  /**
   * Splits the open batch. The first `count` entries keep its id; the others become the open batch with a new id.
   * @returns the body of the first `count` entries
   */
  #takeFirst(count: number): Buffer {
    this.#encode()
    const end = this.#appends.find((append) => append.count === count)?.end as number
    const body = Buffer.concat([this.#scratch.subarray(0, end), CLOSING])
    const removed = end + 1 - this.#headLength // including the comma
    this.#scratch.copyWithin(this.#headLength, end + 1, this.#length)
    this.#length -= removed
    this.#count -= count
    this.#handingOver += count
    this.#restartBatch()
    return body
  }

  /** Logs all entries of the open batch again under a new id, because batches with the same id must not differ. */
  #restartBatch(): void {
    this.#batchId = this.#newId()
    this.#scratch.write(this.#batchId, ID_AT)
    this.#loggedLength = this.#headLength
    this.#loggedCount = 0
    this.#appends = []
    this.#log()
  }

  #reset(): void {
    this.#count = 0
    this.#length = this.#headLength
    this.#appends = []
    this.#highestSeverity = 0
    this.#loggedCount = 0
    // Releases the memory of a very large entry.
    const usual = Math.max(INITIAL_BYTES, 2 * BATCH_BYTES)
    if (this.#scratch.length > usual) this.#scratch = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  }

  /** A timer may be that of an earlier batch, or fire before the end of a very long interval (see `Clock`), so the age decides. */
  readonly #onTimer = (): void => {
    const { clock } = this.#options
    this.#cancelTimer = undefined
    if (this.#count === 0) return
    const leftMs = this.#dueAt - clock.now()
    if (leftMs > 0) this.#cancelTimer = clock.timer(leftMs, this.#onTimer)
    else this.seal()
  }
}

function copyEntry({ memory, start, end }: EntryBytes): EntryBytes {
  return { memory: copyBytes(memory.subarray(start, end)), start: 0, end: end - start }
}

function copyBytes(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
