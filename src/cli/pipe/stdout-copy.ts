/** Copies bytes to stdout. A slow reader of a pipe or socket delays further bytes, and does not block this process. */
import type { SonicBoom } from 'sonic-boom'
import loadSonicBoom from '../../shared/load-sonic-boom.cjs'

/** A full pipe is tried again after these times: soon, because a fast reader empties it within a millisecond. */
const FIRST_RETRY_MS = 1
const MAX_RETRY_MS = 512
/** With more unwritten bytes, `write` asks to wait. */
const MAX_UNWRITTEN_BYTES = 64 * 1024
const NOTHING = Buffer.alloc(0)

export interface StdoutCopyOptions {
  /** Called after `write` returned false, when more bytes can be taken. */
  readonly onReady: () => void
  /** Called once; nothing is written afterwards. `EPIPE`: the reader closed stdout. */
  readonly onError: (error: NodeJS.ErrnoException) => void
}

export class StdoutCopy {
  readonly #options: StdoutCopyOptions
  readonly #stdout: SonicBoom
  #isOpen = true
  #unwrittenBytes = 0
  #isAwaited = false
  #retryMs = FIRST_RETRY_MS
  #retry: NodeJS.Timeout | undefined

  constructor(options: StdoutCopyOptions) {
    this.#options = options
    // Reading `process.stdout` makes a pipe non-blocking, except on Windows. `sync` thus writes what fits, as Node itself does.
    const { fd } = process.stdout
    // SonicBoom itself would block for 100 ms each time the pipe is full.
    this.#stdout = new (loadSonicBoom())({ fd, sync: true, contentMode: 'buffer', retryEAGAIN: () => false })
    this.#stdout.on('error', (error: NodeJS.ErrnoException) => this.#fail(error))
    this.#stdout.on('write', () => (this.#retryMs = FIRST_RETRY_MS))
    this.#stdout.on('drain', () => this.#finish())
  }

  /** @returns false if the caller must wait for `onReady` */
  write(bytes: Buffer): boolean {
    if (!this.#isOpen) return true
    this.#unwrittenBytes += bytes.length
    this.#write(bytes)
    this.#isAwaited ||= this.#retry !== undefined && this.#unwrittenBytes > MAX_UNWRITTEN_BYTES
    return !this.#isAwaited
  }

  /** Typed for strings only; with `contentMode: 'buffer'` it takes bytes. */
  #write(bytes: Buffer): void {
    this.#stdout.write(bytes as unknown as string)
  }

  #fail(error: NodeJS.ErrnoException): void {
    if (error.code === 'EAGAIN') return this.#tryAgain()
    this.#isOpen = false
    clearTimeout(this.#retry)
    this.#retry = undefined
    this.#options.onError(error)
    this.#finish()
  }

  /** SonicBoom has kept the bytes, and writes them with the next ones. */
  #tryAgain(): void {
    if (this.#retry !== undefined) return
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.#write(NOTHING)
    }, this.#retryMs)
    this.#retryMs = Math.min(this.#retryMs * 2, MAX_RETRY_MS)
  }

  /** `drain` may be emitted for bytes that were followed by others, which did not fit. */
  #finish(): void {
    if (this.#retry !== undefined) return
    this.#unwrittenBytes = 0
    if (!this.#isAwaited) return
    this.#isAwaited = false
    this.#options.onReady()
  }
}
