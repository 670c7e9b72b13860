/**
 * Limits the bytes of the batches in a forwarder. Compressed batches are unpacked one at a time, when there is room: a few
 * kilobytes can become megabytes.
 */

/** The part of the budget that one message uses. */
export interface Share {
  bytes: number
  /** Part of `bytes` that was added by unpacking. */
  unpackedBytes: number
}

interface Waiting {
  readonly bytes: number
  readonly resolve: (isAdmitted: boolean) => void
}

export class ByteBudget {
  readonly #maxBytes: number
  readonly #waiting: Waiting[] = []
  #bytes = 0
  #unpackedBytes = 0
  #isUnpacking = false
  #isClosed = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Bytes that may still be received. 0 while a received message waits for room. */
  get left(): number {
    const isBlocked = this.#waiting.length > 0 && !this.#isUnpacking
    return isBlocked ? 0 : Math.max(this.#maxBytes - this.#bytes, 0)
  }

  /** Call for each received message. */
  take(bytes: number): Share {
    this.#bytes += bytes
    return { bytes, unpackedBytes: 0 }
  }

  /** Call once or several times. */
  give(share: Share): void {
    this.#bytes -= share.bytes
    this.#unpackedBytes -= share.unpackedBytes
    share.bytes = share.unpackedBytes = 0
    this.#admit()
  }

  /**
   * @param expected bytes of the result according to the message. If the message is wrong, this result can exceed the budget
   * @param unpack returns the result and its bytes
   * @returns undefined if the budget was closed before there was room
   */
  async unpack<T>(
    share: Share,
    expected: number,
    unpack: () => Promise<readonly [result: T, bytes: number]>,
  ): Promise<T | undefined> {
    const isAdmitted = await new Promise<boolean>((resolve) => {
      this.#waiting.push({ bytes: expected, resolve })
      this.#admit()
    })
    if (!isAdmitted) return undefined
    try {
      const [result, bytes] = await unpack()
      share.unpackedBytes = bytes
      share.bytes += bytes
      this.#bytes += bytes
      this.#unpackedBytes += bytes
      return result
    } finally {
      this.#isUnpacking = false
      this.#admit()
    }
  }

  /** Ends all waits for room. */
  close(): void {
    this.#isClosed = true
    this.#admit()
  }

  #admit(): void {
    if (this.#isClosed) for (const { resolve } of this.#waiting.splice(0)) resolve(false)
    const [first] = this.#waiting
    if (first === undefined || this.#isUnpacking) return
    // One unpacked batch may have any size.
    if (this.#unpackedBytes > 0 && this.#bytes + first.bytes > this.#maxBytes) return
    this.#isUnpacking = true
    this.#waiting.shift()
    first.resolve(true)
  }
}
