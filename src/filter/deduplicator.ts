/** [worker] Within a window equal entries go once, the first at once; one summary at its end tells how many more there were. */
import type { Clock } from '../shared/clock.js'
import { copyString, hashLongId } from '../record/string-copy.js'
import { condense, createSummary, findTimestamp } from './repeat-summary.js'

export interface RepeatSummary {
  /** An entry of the interface. */
  readonly json: string
  /** Position in `LEVELS`, that of the entries it stands for. */
  readonly rank: number
  /** How many they are. */
  readonly count: number
}

export interface DeduplicatorOptions {
  readonly windowMs: number
  readonly clock: Clock
  /** May be called within `isRepeat`, by a timer, by `flushNow` and by `end`. */
  readonly onSummary: (summary: RepeatSummary) => void
  /** Windows open at a time. Default 1,000; beyond them the oldest is closed early. */
  readonly maxKeys?: number
  /** Memory for what is held of the repeats. Default 8 MiB; as `maxKeys`. */
  readonly maxBytes?: number
  /** UTF-8 bytes of a summary. Default 64 KiB, and no more than that. */
  readonly maxEntryBytes?: number
}

const MAX_KEYS = 1_000
const MAX_BYTES = 8 * 1024 * 1024
/** Of one repeat. */
const MAX_HELD_BYTES = 64 * 1024
/** A UTF-16 unit takes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3
const LEAST_BUFFER_BYTES = 1_024
const NOTHING = Buffer.alloc(0)

interface Window {
  readonly key: string
  readonly rank: number
  readonly openedAt: number
  count: number
  /** Of the first repeat. */
  first: string
  /**
   * The last repeat's text, in the first `length` bytes. Each repeat writes over the one before: that allocates nothing, and
   * a string kept would hold the chunk of lines that it is a slice of.
   */
  last: Buffer
  length: number
}

export class Deduplicator {
  readonly #options: DeduplicatorOptions
  readonly #maxKeys: number
  readonly #maxBytes: number
  readonly #maxEntryBytes: number
  /** In the order in which they were opened; since all last equally long, in which they end. */
  readonly #windows = new Map<string, Window>()
  #bytes = 0
  #cancelTimer: (() => void) | undefined
  #hasEnded = false

  constructor(options: DeduplicatorOptions) {
    this.#options = options
    this.#maxKeys = options.maxKeys ?? MAX_KEYS
    this.#maxBytes = options.maxBytes ?? MAX_BYTES
    this.#maxEntryBytes = Math.min(options.maxEntryBytes ?? MAX_HELD_BYTES, MAX_HELD_BYTES)
  }

  /** Windows that are open. */
  get keys(): number {
    return this.#windows.size
  }

  /** Memory that the repeats take. */
  get bytes(): number {
    return this.#bytes
  }

  /**
   * Whether the entry is counted, and not to be sent. Entries of another level are other entries: a fatal one must not hide
   * behind an error.
   *
   * @param fingerprint what makes entries equal; an entry with an empty one is none's repeat
   * @param rank its level's position in `LEVELS`
   */
  isRepeat(fingerprint: string, rank: number, entryJson: string): boolean {
    if (fingerprint === '' || this.#hasEnded) return false
    const key = keyOf(fingerprint, rank)
    const now = this.#options.clock.now()
    const window = this.#windows.get(key)
    // While a thread is busy its timers are late.
    if (window !== undefined && now - window.openedAt < this.#options.windowMs) {
      this.#hold(window, entryJson)
      return true
    }
    if (window !== undefined) this.#close(window, now)
    else if (this.#windows.size === this.#maxKeys) this.#closeOldest(now)
    this.#open(key, rank, now)
    return false
  }

  /** Ends all windows now. What comes later begins new ones. */
  flushNow(): void {
    this.#stopTimer()
    const now = this.#options.clock.now()
    for (const window of [...this.#windows.values()]) this.#close(window, now)
  }

  /** Ends all windows for good: what comes later goes as it is, since no summary could tell of its repeats any more. */
  end(): void {
    this.#hasEnded = true
    this.flushNow()
  }

  /** Forgets all windows, without a summary. */
  cancel(): void {
    this.#stopTimer()
    this.#windows.clear()
    this.#bytes = 0
  }

  #open(key: string, rank: number, openedAt: number): void {
    this.#windows.set(key, { key, rank, openedAt, count: 0, first: '', last: NOTHING, length: 0 })
    if (this.#cancelTimer === undefined) this.#startTimer(this.#options.windowMs)
  }

  #hold(window: Window, entryJson: string): void {
    window.count += 1
    if (window.count === 1) window.first = copyString(findTimestamp(entryJson))
    const json = bytesFit(entryJson, MAX_HELD_BYTES) ? entryJson : condense(entryJson, MAX_HELD_BYTES)
    if (!bytesFit(json, window.last.length)) this.#grow(window, json)
    window.length = window.last.write(json)
    // This very window may be the oldest, and a single one is small enough to stay.
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
    const { count, first, rank, last, length, openedAt } = window
    if (count === 0) return
    const json = createSummary(
      last.toString('utf8', 0, length),
      { count, first, elapsedMs: now - openedAt },
      this.#maxEntryBytes,
    )
    this.#options.onSummary({ json, rank, count })
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

/** Joined, and so a string of its own: the fingerprint is a slice of the chunk of lines. */
function keyOf(fingerprint: string, rank: number): string {
  const hash = hashLongId(fingerprint)
  return hash === undefined ? `${rank}=${fingerprint}` : `${rank}#${hash}`
}

/** Counts bytes only where the worst case would not fit. */
function bytesFit(json: string, bytes: number): boolean {
  return json.length * MAX_BYTES_PER_UNIT <= bytes || Buffer.byteLength(json) <= bytes
}
