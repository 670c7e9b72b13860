/**
 * Limits the bytes of the batches that a forwarder holds. A compressed one is unpacked when there is room for it, one at a time: a few
 * kilobytes can become megabytes, and a batch whose entries are searched for bad ones is held for minutes.
 */

/** Of one message. */
export interface Share {
  bytes: number
  /** Of them, by unpacking. */
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

  /** How many more bytes may be received. Zero while one that was received waits for room. */
  get left(): number {
    const isBlocked = this.#waiting.length > 0 && !this.#isUnpacking
    return isBlocked ? 0 : Math.max(this.#maxBytes - this.#bytes, 0)
  }

  /** Messages that wait for room to be unpacked. */
  get waiting(): number {
    return this.#waiting.length
  }

  /** For a message that was received. */
  take(bytes: number): Share {
    this.#bytes += bytes
    return { bytes, unpackedBytes: 0 }
  }

  give(share: Share): void {
    this.#bytes -= share.bytes
    this.#unpackedBytes -= share.unpackedBytes
    this.#admit()
  }

  /**
   * @param expected bytes of the result, as the message says. If that is not true, the budget is exceeded by this one.
   * @param unpack returns the result, and its bytes
   * @returns undefined if it was closed before there was room
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

  /** Unpacks nothing more. */
  close(): void {
    this.#isClosed = true
    this.#admit()
  }

  #admit(): void {
    if (this.#isClosed) for (const { resolve } of this.#waiting.splice(0)) resolve(false)
    const [first] = this.#waiting
    if (first === undefined || this.#isUnpacking) return
    // One is allowed of any size.
    if (this.#unpackedBytes > 0 && this.#bytes + first.bytes > this.#maxBytes) return
    this.#isUnpacking = true
    this.#waiting.shift()
    first.resolve(true)
  }
}
