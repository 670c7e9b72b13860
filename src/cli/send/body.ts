/**
 * The body of a batch while it is made: entries become bytes at once, since strings that wait for the others cost as much memory
 * again. The batch's id, which follows from where the batch ends, is put in last.
 */

const OPENING = '{"batch_id":"'
const ID_BYTES = 36
const LIST = '","logs":['
const HEAD_BYTES = OPENING.length + ID_BYTES + LIST.length
const CLOSING = ']}'
const COMMA = 0x2c
const INITIAL_BYTES = 64 * 1024
/** A UTF-16 unit becomes at most three bytes of UTF-8. */
const MAX_BYTES_PER_UNIT = 3

export class Body {
  readonly #maxBytes: number
  /** Serves all batches; an exact copy leaves it. */
  #scratch = scratchOf(INITIAL_BYTES)
  #length = HEAD_BYTES
  #count = 0

  /** @param maxBytes of a whole body */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Entries in it. */
  get count(): number {
    return this.#count
  }

  /** Bytes of the body, were it taken now. */
  get bytes(): number {
    return this.#length + CLOSING.length
  }

  /** Whether there is room for the entry beside those that are there. Counts bytes only where the worst case would not fit. */
  fits(entry: string): boolean {
    const left = this.#maxBytes - this.bytes - 1
    return this.#count === 0 || entry.length * MAX_BYTES_PER_UNIT <= left || Buffer.byteLength(entry) <= left
  }

  /** @param entry as JSON */
  add(entry: string): void {
    this.#reserve(entry)
    if (this.#count > 0) this.#scratch[this.#length++] = COMMA
    this.#length += this.#scratch.write(entry, this.#length)
    this.#count += 1
  }

  /** What is in it, and leaves it empty. @param batchId a UUID */
  take(batchId: string): Buffer {
    this.#scratch.write(batchId, OPENING.length)
    this.#scratch.write(CLOSING, this.#length)
    const body = Buffer.from(this.#scratch.subarray(0, this.bytes))
    this.#length = HEAD_BYTES
    this.#count = 0
    // One giant entry must not keep its memory for good.
    if (this.#scratch.length > Math.max(INITIAL_BYTES, 2 * this.#maxBytes)) this.#scratch = scratchOf(INITIAL_BYTES)
    return body
  }

  #reserve(entry: string): void {
    const around = this.#length + 1 + CLOSING.length
    if (around + entry.length * MAX_BYTES_PER_UNIT <= this.#scratch.length) return
    const needed = around + Buffer.byteLength(entry)
    if (needed <= this.#scratch.length) return
    const grown = scratchOf(Math.max(needed, 2 * this.#scratch.length))
    this.#scratch.copy(grown, HEAD_BYTES, HEAD_BYTES, this.#length)
    this.#scratch = grown
  }
}

function scratchOf(bytes: number): Buffer {
  const scratch = Buffer.allocUnsafeSlow(bytes)
  scratch.write(OPENING)
  scratch.write(LIST, OPENING.length + ID_BYTES)
  return scratch
}
