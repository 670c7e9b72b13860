/**
 * [worker] Deduplicates entries: sends the first of equal entries within a window, and a summary that counts the others
 * when the window ends.
 */
import type { Clock } from '../shared/clock.js'
import { copyString, hashLongId } from '../record/string-copy.js'
import { condense, createSummary, findTimestamp } from './repeat-summary.js'

export interface RepeatSummary {
  readonly json: string
  /** Position of the level of the counted entries in `LEVELS`. */
  readonly severity: number
  readonly count: number
}

export interface DeduplicatorOptions {
  readonly windowMs: number
  readonly clock: Clock
  /** May be called during `isRepeat`, `flushNow` and `end`, and by a timer. */
  readonly onSummary: (summary: RepeatSummary) => void
  /** Maximum number of open windows. Default 1,000; beyond it the oldest is closed early. */
  readonly maxKeys?: number
  /** Memory limit for repeats. Default 8 MiB; beyond it the oldest window is closed early. */
  readonly maxBytes?: number
  /** Maximum UTF-8 bytes of a summary. Default and upper limit 64 KiB. */
  readonly maxEntryBytes?: number
}

const MAX_KEYS = 1_000
const MAX_BYTES = 8 * 1024 * 1024
/** Maximum bytes of one repeat. */
const MAX_KEPT_BYTES = 64 * 1024
/** A UTF-16 unit has at most three bytes in UTF-8. */
const MAX_BYTES_PER_UNIT = 3
const LEAST_BUFFER_BYTES = 1_024
const NOTHING = Buffer.alloc(0)

interface Window {
  readonly key: string
  readonly severity: number
  readonly openedAt: number
  count: number
  first: string
  /**
   * The latest repeat, in the first `length` bytes. Each repeat overwrites it without allocation; a string would be a
   * slice that retains its whole chunk of lines.
   */
  last: Buffer
  length: number
}

export class Deduplicator {
  readonly #options: DeduplicatorOptions
  readonly #maxKeys: number
  readonly #maxBytes: number
  readonly #maxEntryBytes: number
  /** In the order of opening, which is also the order of closing. */
  readonly #windows = new Map<string, Window>()
  #bytes = 0
  #cancelTimer: (() => void) | undefined
  #hasEnded = false

  constructor(options: DeduplicatorOptions) {
    this.#options = options
    this.#maxKeys = options.maxKeys ?? MAX_KEYS
    this.#maxBytes = options.maxBytes ?? MAX_BYTES
    this.#maxEntryBytes = Math.min(options.maxEntryBytes ?? MAX_KEPT_BYTES, MAX_KEPT_BYTES)
  }

  get keys(): number {
    return this.#windows.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /**
   * Whether the entry is counted instead of sent. Entries of different levels are never equal: an error must not hide a
   * fatal entry.
   *
   * @param fingerprint the same for equal entries; an entry with an empty one is never a repeat
   * @param severity position of the entry's level in `LEVELS`
   */
  isRepeat(fingerprint: string, severity: number, entryJson: string): boolean {
    if (fingerprint === '' || this.#hasEnded) return false
    const key = createKey(fingerprint, severity)
    const now = this.#options.clock.now()
    const window = this.#windows.get(key)
    // The timer may be late in a busy thread.
    if (window !== undefined && now - window.openedAt < this.#options.windowMs) {
      this.#keep(window, entryJson)
      return true
    }
    if (window !== undefined) this.#close(window, now)
    else if (this.#windows.size === this.#maxKeys) this.#closeOldest(now)
    this.#open(key, severity, now)
    return false
  }

  /** Closes all windows. Later entries open new ones. */
  flushNow(): void {
    this.#stopTimer()
    const now = this.#options.clock.now()
    for (const window of [...this.#windows.values()]) this.#close(window, now)
  }

  /** Closes all windows permanently. Later entries are sent, because no summary could count them. */
  end(): void {
    this.#hasEnded = true
    this.flushNow()
  }

  /** Removes all windows without a summary. */
  cancel(): void {
    this.#stopTimer()
    this.#windows.clear()
    this.#bytes = 0
  }

  #open(key: string, severity: number, openedAt: number): void {
    this.#windows.set(key, { key, severity, openedAt, count: 0, first: '', last: NOTHING, length: 0 })
    if (this.#cancelTimer === undefined) this.#startTimer(this.#options.windowMs)
  }

  #keep(window: Window, entryJson: string): void {
    window.count += 1
    if (window.count === 1) window.first = copyString(findTimestamp(entryJson))
    const json = bytesFit(entryJson, MAX_KEPT_BYTES) ? entryJson : condense(entryJson, MAX_KEPT_BYTES)
    if (!bytesFit(json, window.last.length)) this.#grow(window, json)
    window.length = window.last.write(json)
    // The last window stays regardless of its size, because it may be this one.
    while (this.#bytes > this.#maxBytes && this.#windows.size > 1) this.#closeOldest(this.#options.clock.now())
  }

  #grow(window: Window, json: string): void {
    const bytes = Math.max(LEAST_BUFFER_BYTES, 2 ** Math.ceil(Math.log2(Buffer.byteLength(json))))
    this.#bytes += bytes - window.last.length
    window.last = Buffer.allocUnsafeSlow(bytes)
  }

  #closeOldest(now: number): void {
    const [oldest] = this.#windows.values()
    if (oldest !== undefined) this.#close(oldest, now)
  }

  #close(window: Window, now: number): void {
    this.#windows.delete(window.key)
    this.#bytes -= window.last.length
    const { count, first, severity, last, length, openedAt } = window
    if (count === 0) return
    const json = createSummary(
      last.toString('utf8', 0, length),
      { count, first, elapsedMs: now - openedAt },
      this.#maxEntryBytes,
    )
    this.#options.onSummary({ json, severity, count })
  }

  #startTimer(delayMs: number): void {
    this.#cancelTimer = this.#options.clock.timer(delayMs, () => {
      this.#cancelTimer = undefined
      this.#closeEnded()
    })
  }

  #closeEnded(): void {
    const now = this.#options.clock.now()
    for (const window of this.#windows.values()) {
      const leftMs = window.openedAt + this.#options.windowMs - now
      if (leftMs > 0) return this.#startTimer(leftMs)
      this.#close(window, now)
    }
  }

  #stopTimer(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }
}

/** Concatenation copies the fingerprint, so the key does not retain the chunk of lines. */
function createKey(fingerprint: string, severity: number): string {
  const hash = hashLongId(fingerprint)
  return hash === undefined ? `${severity}=${fingerprint}` : `${severity}#${hash}`
}

/** Counts the bytes only if the worst case does not fit. */
function bytesFit(json: string, bytes: number): boolean {
  return json.length * MAX_BYTES_PER_UNIT <= bytes || Buffer.byteLength(json) <= bytes
}
