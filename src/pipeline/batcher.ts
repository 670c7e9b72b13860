/** Entries -> batches of at most `batch.size`, each one request body under one `batch_id`. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '../shared/clock.js'
import type { EntryLog } from '../spool/entry-log.js'
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

const ID_AT = '{"batch_id":"'.length
const INITIAL_BYTES = 64 * 1024
/** A UTF-16 unit becomes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3
const COMMA = 0x2c
/** Bytes per `append`. Damage on disk costs at least this much; a quarter of it would cost 5 % more of the worker's time. */
const LOG_BYTES = 32 * 1024
/** After a pause a batch waits only this long: entries that are logged together arrive within it. */
const LINGER_MS = 50
const NO_BODY = Buffer.alloc(0)
const CLOSING = Buffer.from(']}')

/**
 * Writes every entry as UTF-8 at once: a string stored until the seal would retain the whole chunk that it is a slice of.
 * All batches use one scratch buffer, which is copied at the seal, so that a waiting batch uses only the memory of its own bytes. The copy
 * costs about 2 us a batch of 25 KB.
 */
export class Batcher {
  readonly #options: BatcherOptions
  readonly #newId: () => string
  #scratch = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #batchId = ''
  #length = 0
  #count = 0
  #highestSeverity = 0
  #dueAt = 0
  #cutAt = -Infinity
  #cancelTimer: (() => void) | undefined
  /** Offset of the first entry in the body. */
  #headLength = 0
  /** Number of bytes of the open batch that were passed to the log. */
  #loggedLength = 0
  #loggedCount = 0
  /** Offset of the end of each entry of the open batch. */
  #ends: number[] = []
  #isCommitted = true
  /** Whether the open batch is being sealed. A listener may add an entry meanwhile: it is sealed, too. */
  #isCutting = false
  /** Entries of sealed batches that were not yet passed to `onBatch`. */
  #handingOver = 0

  constructor(options: BatcherOptions) {
    this.#options = options
    this.#newId = options.newId ?? randomUUID
  }

  /** Entries in no sealed batch yet. */
  get pendingEntries(): number {
    return this.#count + this.#handingOver
  }

  /** Bytes of the body, if it were sealed now. */
  get pendingBytes(): number {
    return this.#count === 0 ? 0 : this.#length + CLOSING.length
  }

  /**
   * @param entryJson one entry as JSON
   * @param severity 0 (debug) to 4 (fatal)
   */
  add(entryJson: string, severity: number): void {
    const full = this.#count > 0 && !this.#isCutting && !this.#fits(entryJson) ? this.#cut() : []
    if (this.#count === 0) this.#open()
    if (severity > this.#highestSeverity) this.#highestSeverity = severity
    this.#write(entryJson)
    // After the entry was written: `onBatch` may read `pendingEntries` or add an entry.
    this.#handOver(full)
    if (this.#count >= this.#options.batch.size || this.pendingBytes >= this.#options.batch.bytes) this.seal()
  }

  /** Writes all added entries to disk, synchronously: a process without CPU time may be killed before a timer fires. */
  commit(): void {
    const { log } = this.#options
    if (log === undefined || this.#isCommitted) return
    this.#log()
    while (!log.flush()) this.#restartBatch()
    this.#isCommitted = true
  }

  /** Seals the open batch, if there is one. */
  seal(): void {
    if (this.#count > 0 && !this.#isCutting) this.#handOver(this.#cut())
  }

  #handOver(batches: readonly Batch[]): void {
    for (const batch of batches) {
      this.#handingOver -= batch.count
      this.#options.onBatch(batch)
    }
  }

  /** Counts bytes only if the worst case would not fit. */
  #fits(entryJson: string): boolean {
    const left = this.#options.batch.bytes - this.#length - 1 - CLOSING.length
    return entryJson.length * MAX_BYTES_PER_UNIT <= left || Buffer.byteLength(entryJson) <= left
  }

  #write(entryJson: string): void {
    this.#reserve(entryJson)
    if (this.#count > 0) this.#scratch[this.#length++] = COMMA
    this.#length += this.#scratch.write(entryJson, this.#length)
    this.#count += 1
    this.#ends.push(this.#length)
    this.#isCommitted = false
    if (this.#length - this.#loggedLength >= LOG_BYTES) this.#log()
  }

  #log(): void {
    const { log } = this.#options
    if (log === undefined || this.#loggedCount === this.#count) return
    const start = this.#loggedCount === 0 ? this.#loggedLength : this.#loggedLength + 1 // after the comma
    const text = this.#scratch.subarray(start, this.#length)
    log.append(this.#batchId, this.#loggedCount, this.#count - this.#loggedCount, this.#highestSeverity, text)
    this.#loggedLength = this.#length
    this.#loggedCount = this.#count
  }

  #reserve(entryJson: string): void {
    const around = 1 + CLOSING.length
    const left = this.#scratch.length - this.#length - around
    if (entryJson.length * MAX_BYTES_PER_UNIT <= left) return
    const needed = this.#length + around + Buffer.byteLength(entryJson)
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
    // At less than one batch per interval, one request is sent per interval.
    this.#dueAt = Math.min(Math.max(now + LINGER_MS, this.#cutAt + intervalMs), now + intervalMs)
    this.#cancelTimer = clock.timer(this.#dueAt - now, this.#onTimer)
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
      body: sealed.place !== undefined && waitsOnDisk?.(view.length) === true ? NO_BODY : copyOf(view),
    }
  }

  /** Splits the open batch. @returns the body of the first `count` entries; the others become the open batch, under a new id */
  #takeFirst(count: number): Buffer {
    const end = this.#ends[count - 1] as number
    const body = Buffer.concat([this.#scratch.subarray(0, end), CLOSING])
    const removed = end + 1 - this.#headLength // including the comma
    this.#scratch.copyWithin(this.#headLength, end + 1, this.#length)
    this.#length -= removed
    this.#count -= count
    this.#handingOver += count
    this.#ends = this.#ends.slice(count).map((at) => at - removed)
    this.#restartBatch()
    return body
  }

  /** Logs all entries of the open batch again, under a new id: two batches with one id must not differ. */
  #restartBatch(): void {
    this.#batchId = this.#newId()
    this.#scratch.write(this.#batchId, ID_AT)
    this.#loggedLength = this.#headLength
    this.#loggedCount = 0
    this.#log()
  }

  #reset(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#count = 0
    this.#ends = []
    this.#highestSeverity = 0
    this.#loggedCount = 0
    // Releases the memory of a very large entry.
    const usual = Math.max(INITIAL_BYTES, 2 * this.#options.batch.bytes)
    if (this.#scratch.length > usual) this.#scratch = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  }

  /** A timer may fire before a very long interval is over (see `Clock`), so the age decides. */
  readonly #onTimer = (): void => {
    const { clock } = this.#options
    const leftMs = this.#dueAt - clock.now()
    if (leftMs > 0) this.#cancelTimer = clock.timer(leftMs, this.#onTimer)
    else this.seal()
  }
}

function copyOf(bytes: Uint8Array): Buffer {
  const copy = Buffer.allocUnsafeSlow(bytes.length)
  copy.set(bytes)
  return copy
}
