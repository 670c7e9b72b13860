/** Copies bytes to stdout. A slow reader delays further bytes, and never blocks this process. */
import { SonicBoom } from 'sonic-boom'

/** A full pipe is tried again after these times: soon, because a fast reader empties it within a millisecond. */
const FIRST_RETRY_MS = 1
const MAX_RETRY_MS = 64
const NOTHING = Buffer.alloc(0)

export class StdoutCopy {
  readonly #stdout: SonicBoom
  readonly #onError: (error: NodeJS.ErrnoException) => void
  #isOpen = true
  #retryMs = FIRST_RETRY_MS
  /** Set while the pipe is full. */
  #whenReady: (() => void) | undefined

  /** @param onError called once; nothing is written afterwards. `EPIPE`: the reader closed stdout */
  constructor(onError: (error: NodeJS.ErrnoException) => void) {
    this.#onError = onError
    // Reading `process.stdout` makes a pipe non-blocking, except on Windows. `sync` thus writes what fits, as Node itself does.
    const { fd } = process.stdout
    // SonicBoom itself would block for 100 ms each time the pipe is full.
    this.#stdout = new SonicBoom({ fd, sync: true, contentMode: 'buffer', retryEAGAIN: () => false })
    this.#stdout.on('error', (error: NodeJS.ErrnoException) => this.#fail(error))
    this.#stdout.on('write', () => (this.#retryMs = FIRST_RETRY_MS))
    this.#stdout.on('drain', () => this.#continue())
  }

  /** @param whenReady called when all bytes are written, or after an error. One call at a time */
  write(bytes: Buffer, whenReady: () => void): void {
    if (!this.#isOpen) return whenReady()
    this.#whenReady = whenReady
    this.#write(bytes)
  }

  /** Typed for strings only; with `contentMode: 'buffer'` it takes bytes. */
  #write(bytes: Buffer): void {
    this.#stdout.write(bytes as unknown as string)
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (error.code === 'EAGAIN') {
      // Writes the bytes that SonicBoom has kept.
      setTimeout(() => this.#write(NOTHING), this.#retryMs)
      this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS)
      return
    }
    this.#isOpen = false
    this.#onError(error)
    this.#continue()
  }

  #continue(): void {
    const whenReady = this.#whenReady
    this.#whenReady = undefined
    whenReady?.()
  }
}
