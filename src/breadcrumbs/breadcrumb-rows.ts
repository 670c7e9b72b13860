/**
 * The latest lines by scope: a trace, a request, a session, or the process. An error takes the lines of its scope since
 * the previous error, so each line is used once.
 *
 * A line is a row in memory that the kernel shares: its place in the ring of lines, and the hash of its scope. The rows
 * of one bucket of hashes are linked, and an error follows the links backwards. New rows and new text overwrite the
 * oldest. The kernel adds the rows of the lines within a run.
 */
import {
  BUCKETS,
  HEADS,
  MAX_ROWS,
  OPTION,
  Option,
  ROWS,
  ROW_BYTES,
  Row,
  RowFlag,
  SCOPE_SECONDS,
  SIZE_SHIFT,
} from '../record/memory.js'
import type { LineRing } from '../record/line-ring.js'
import type { ScopeHash } from '../record/scope.js'

export const BREADCRUMB_BYTES = 8 * 1024 * 1024

export interface BreadcrumbLine {
  readonly position: number
  readonly bytes: number
  readonly flags: number
}

export interface BreadcrumbRowsOptions {
  readonly ring: LineRing
  /** Lowest severity that becomes a breadcrumb, see `MappedRecord`. */
  readonly threshold: number
  /** Maximum number of lines that an error takes. */
  readonly limit: number
  /** Distance in the ring up to which an error takes lines. */
  readonly maxBytes: number
}

const FLAG_MASK = (1 << SIZE_SHIFT) - 1

export class BreadcrumbRows {
  readonly #words: Uint32Array
  readonly #numbers: Float64Array
  readonly #threshold: number

  constructor({ ring, threshold, limit, maxBytes }: BreadcrumbRowsOptions) {
    this.#words = ring.words
    this.#numbers = ring.numbers
    this.#threshold = threshold
    this.#setOption(Option.BREADCRUMB_THRESHOLD, threshold)
    this.#setOption(Option.BREADCRUMB_LIMIT, limit)
    this.#setOption(Option.NEXT_ROW, 1)
    this.#numbers[(OPTION + Option.BREADCRUMB_DISTANCE) / 8] = maxBytes
  }

  /** Sets the time of the lines that follow. @param now milliseconds on a monotonic clock */
  setTime(now: number): void {
    this.#setOption(Option.NOW, Math.floor(now / 1_000))
  }

  /** Adds a line of a scope. @param address of the line */
  add(scope: ScopeHash, severity: number, { position, bytes, flags }: BreadcrumbLine, address: number): void {
    const isBreadcrumb = severity >= this.#threshold
    if (!isBreadcrumb && (flags & RowFlag.TOOK) === 0) return
    const number = this.#option(Option.NEXT_ROW)
    const row = rowAt(number)
    const head = headOf(scope)
    this.#numbers[(row + Row.POSITION) / 8] = position
    this.#setWord(row + Row.SCOPE, scope.one)
    this.#setWord(row + Row.SCOPE + 4, scope.other)
    this.#setWord(
      row + Row.SIZE_AND_FLAGS,
      (bytes << SIZE_SHIFT) | flags | (isBreadcrumb ? 0 : RowFlag.NOT_A_BREADCRUMB),
    )
    this.#setWord(row + Row.PREVIOUS, this.#word(head))
    this.#setWord(row + Row.SECONDS, this.#option(Option.NOW))
    this.#setWord(row + Row.ADDRESS, address)
    this.#setWord(head, number)
    this.#setOption(Option.NEXT_ROW, (number + 1) >>> 0 || 1)
  }

  /** The lines that an error of the scope at the position takes, oldest first. The caller then adds the error with the flag `TOOK`. */
  find(scope: ScopeHash, position: number): BreadcrumbLine[] {
    const distance = this.#numbers[(OPTION + Option.BREADCRUMB_DISTANCE) / 8] as number
    const overwritten = this.#numbers[(OPTION + Option.OVERWRITTEN) / 8] as number
    const least = Math.max(position - distance, overwritten)
    const limit = this.#option(Option.BREADCRUMB_LIMIT)
    const next = this.#option(Option.NEXT_ROW)
    const lines: BreadcrumbLine[] = []
    let seconds = this.#option(Option.NOW)
    let age = 0
    for (let number = this.#word(headOf(scope)); number !== 0 && lines.length < limit;) {
      const row = rowAt(number)
      const rowAge = (next - number) >>> 0
      // Rows are overwritten in their turn.
      if (rowAge <= age || rowAge > MAX_ROWS || this.#positionOf(row) <= least) break
      age = rowAge
      if (this.#word(row + Row.SCOPE) === scope.one && this.#word(row + Row.SCOPE + 4) === scope.other) {
        if (seconds - this.#word(row + Row.SECONDS) > SCOPE_SECONDS) break
        seconds = this.#word(row + Row.SECONDS)
        const line = this.read(row)
        if ((line.flags & RowFlag.NOT_A_BREADCRUMB) === 0) lines.push(line)
        if ((line.flags & RowFlag.TOOK) !== 0) break
      }
      number = this.#word(row + Row.PREVIOUS)
    }
    return lines.toReversed()
  }

  /** Gives back the lines that the latest line took, because its entry was dropped. */
  restore(): void {
    const size = rowAt(this.#option(Option.NEXT_ROW) - 1) + Row.SIZE_AND_FLAGS
    this.#setWord(size, this.#word(size) & ~RowFlag.TOOK)
  }

  read(row: number): BreadcrumbLine {
    const size = this.#word(row + Row.SIZE_AND_FLAGS)
    return { position: this.#positionOf(row), bytes: size >>> SIZE_SHIFT, flags: size & FLAG_MASK }
  }

  #positionOf(row: number): number {
    return this.#numbers[(row + Row.POSITION) / 8] as number
  }

  #word(at: number): number {
    return this.#words[at / 4] as number
  }

  #setWord(at: number, value: number): void {
    this.#words[at / 4] = value
  }

  #option(option: number): number {
    return this.#word(OPTION + option)
  }

  #setOption(option: number, value: number): void {
    this.#setWord(OPTION + option, value)
  }
}

function rowAt(number: number): number {
  return ROWS + (number & (MAX_ROWS - 1)) * ROW_BYTES
}

function headOf({ one }: ScopeHash): number {
  return HEADS + (one & (BUCKETS - 1)) * 4
}
