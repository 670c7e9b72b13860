/**
 * One reader of the stream: what it is still to be told, and when. It is told at most every 50 ms and in bounded pieces;
 * what a slow one has not taken is bounded too, and what goes beyond is left out, the oldest first, and counted.
 */
import { COMMENT, formatJsonEvent, formatEvent } from './server-sent-events.js'
import type { StreamChanged } from '../query/api-types.js'
import type { Schedule } from '../schedule.js'

export const MIN_INTERVAL_MS = 50
/** Entries of one event. */
export const MAX_EVENT_ENTRIES = 500
/** Entries that wait for one reader, and those it gets when it resumes. */
export const MAX_WAITING_ENTRIES = 2000
/** Characters of JSON that wait for one reader, and of one event. */
export const MAX_WAITING_CHARACTERS = 2 << 20
const MAX_EVENT_CHARACTERS = 512 << 10

/** An entry as it is sent, made once for all readers. */
export interface StreamItem {
  readonly seq: number
  /** An `EntryBrief`. */
  readonly json: string
}

export type ChangedKind = StreamChanged['kinds'][number]

export interface SubscriberDependencies {
  /** False where it is full: nothing is written then before `drained()`. */
  readonly write: (text: string) => boolean
  readonly after: Schedule
  /** Milliseconds, on a clock that never jumps. */
  readonly now: () => number
}

export class StreamSubscriber {
  readonly #parts: SubscriberDependencies
  #waiting: StreamItem[] = []
  #characters = 0
  #skipped = 0
  /** Of the newest that was left out. */
  #skippedSeq = 0
  #kinds = new Set<ChangedKind>()
  /** Of the last that was forgotten, until that is told. */
  #resetSeq: number | undefined
  #isFull = false
  #toldAtMs = -Infinity
  #cancel: (() => void) | undefined

  constructor(parts: SubscriberDependencies) {
    this.#parts = parts
  }

  /** Whether it has not yet taken what was written last. */
  get isFull(): boolean {
    return this.#isFull
  }

  entries(lines: readonly StreamItem[], skipped = 0): void {
    if (lines.length === 0 && skipped === 0) return
    this.#skipped += skipped
    for (const line of lines) {
      this.#waiting.push(line)
      this.#characters += line.json.length
    }
    this.#leaveOut()
    this.#plan()
  }

  changed(kind: ChangedKind): void {
    this.#kinds.add(kind)
    this.#plan()
  }

  /** Everything up to this `seq` was forgotten, what waits too. */
  reset(seq: number): void {
    this.#waiting = []
    this.#characters = 0
    this.#skipped = 0
    this.#kinds.clear()
    this.#resetSeq = seq
    this.#plan()
  }

  drained(): void {
    this.#isFull = false
    this.#plan()
  }

  comment(): void {
    this.#write(COMMENT)
  }

  close(): void {
    this.#cancel?.()
    this.#cancel = undefined
  }

  #plan(): void {
    if (this.#cancel !== undefined || this.#isFull || !this.#hasNews()) return
    const { after, now } = this.#parts
    this.#cancel = after(Math.max(0, this.#toldAtMs + MIN_INTERVAL_MS - now()), () => {
      this.#cancel = undefined
      this.#tell()
    })
  }

  #hasNews(): boolean {
    return this.#waiting.length > 0 || this.#skipped > 0 || this.#kinds.size > 0 || this.#resetSeq !== undefined
  }

  #tell(): void {
    if (this.#isFull) return
    this.#toldAtMs = this.#parts.now()
    let text = ''
    if (this.#resetSeq !== undefined) text += formatReset(this.#resetSeq)
    if (this.#waiting.length > 0 || this.#skipped > 0) text += this.#nextEntries()
    if (this.#kinds.size > 0)
      text += formatEvent({ event: 'changed', data: { kinds: [...this.#kinds] } satisfies StreamChanged })
    this.#resetSeq = undefined
    this.#kinds.clear()
    this.#write(text)
    this.#plan()
  }

  #nextEntries(): string {
    let count = 0
    for (let characters = 0; count < this.#waiting.length && count < MAX_EVENT_ENTRIES; count++) {
      characters += (this.#waiting[count] as StreamItem).json.length
      if (count > 0 && characters > MAX_EVENT_CHARACTERS) break
    }
    const lines = this.#take(count)
    const block = formatEntries(lines, this.#skipped, lines.at(-1)?.seq ?? this.#skippedSeq)
    this.#skipped = 0
    return block
  }

  #leaveOut(): void {
    let count = Math.max(0, this.#waiting.length - MAX_WAITING_ENTRIES)
    let characters = this.#characters
    for (let at = 0; at < count; at++) characters -= (this.#waiting[at] as StreamItem).json.length
    while (characters > MAX_WAITING_CHARACTERS) characters -= (this.#waiting[count++] as StreamItem).json.length
    if (count === 0) return
    this.#skipped += count
    this.#skippedSeq = this.#take(count).at(-1)?.seq ?? 0
  }

  #take(count: number): readonly StreamItem[] {
    const taken = this.#waiting.splice(0, count)
    for (const { json } of taken) this.#characters -= json.length
    return taken
  }

  #write(text: string): void {
    if (!this.#isFull) this.#isFull = !this.#parts.write(text)
  }
}

/** The event `reset`, with an id: who comes back after it has been told of it. */
export function formatReset(seq: number): string {
  return formatEvent({ event: 'reset', data: {}, id: seq })
}

/** The event `entries` (`StreamEntries`). */
export function formatEntries(lines: readonly StreamItem[], skipped: number, seq: number): string {
  return formatJsonEvent('entries', `{"items":[${lines.map(({ json }) => json).join(',')}],"skipped":${skipped}}`, seq)
}
