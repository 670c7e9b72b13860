/** Copies bytes to stdout. A reader that is slow or stalled never blocks this process. */
import { SonicBoom } from 'sonic-boom'

/** After these times a full pipe is tried again: soon, because a fast reader empties it within a millisecond. */
const FIRST_RETRY_MS = 1
const MAX_RETRY_MS = 64
const NOTHING = Buffer.alloc(0)

export class StdoutCopy {
  readonly #stdout: SonicBoom
  readonly #onError: (error: NodeJS.ErrnoException) => void
  #isOpen = true
  #retryMs = FIRST_RETRY_MS
  #whenWritten: (() => void) | undefined

  /** @param onError called once; nothing is written afterwards. `EPIPE`: the reader closed stdout */
  constructor(onError: (error: NodeJS.ErrnoException) => void) {
    this.#onError = onError
    // Node makes a pipe non-blocking when `process.stdout` is first read. A blocked write would keep the process from exiting.
    const { fd } = process.stdout
    // SonicBoom itself would wait 100 ms for a pipe that is full, and write at most 640 kB a second to a fast reader.
    this.#stdout = new SonicBoom({ fd, contentMode: 'buffer', retryEAGAIN: () => false })
    this.#stdout.on('error', (error: NodeJS.ErrnoException) => this.#fail(error))
    this.#stdout.on('write', () => (this.#retryMs = FIRST_RETRY_MS))
    this.#stdout.on('drain', () => this.#continue())
  }

  /** Calls `whenWritten()` once the system has taken the bytes, or after an error. Expects one call at a time. */
  write(bytes: Buffer, whenWritten: () => void): void {
    if (!this.#isOpen) return whenWritten()
    this.#whenWritten = whenWritten
    this.#write(bytes)
  }

  /** Typed for strings only; with `contentMode: 'buffer'` it takes bytes. */
  #write(bytes: Buffer): void {
    this.#stdout.write(bytes as unknown as string)
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (error.code === 'EAGAIN') {
      // Tries the bytes that SonicBoom has kept.
      setTimeout(() => this.#write(NOTHING), this.#retryMs)
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS)
      return
    }
    this.#isOpen = false
    this.#onError(error)
    this.#continue()
  }

  #continue(): void {
    const written = this.#whenWritten
    this.#whenWritten = undefined
    written?.()
  }
}
