/** Collects frames before they are written. */
import { HEADER_BYTES, writeFrame } from './frame.js'

const INITIAL_BYTES = 128 * 1024

export class FrameBuffer {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  append(frame: Parameters<typeof writeFrame>[2]): void {
    const needed = this.#length + HEADER_BYTES + frame.text.length
    if (needed > this.#bytes.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length))
      this.#bytes.copy(grown, 0, 0, this.#length)
      this.#bytes = grown
    }
    this.#length = writeFrame(this.#bytes, this.#length, frame)
  }

  /** Empties the buffer. @returns the collected bytes, valid until the next `append` */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#length)
    this.#length = 0
    // Releases the memory of a single very large entry.
    if (this.#bytes.length > 8 * INITIAL_BYTES) this.#bytes = Buffer.allocUnsafeSlow(INITIAL_BYTES)
    return taken
  }
}
