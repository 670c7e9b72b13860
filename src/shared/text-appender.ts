/** Appends text to an open file, through SonicBoom. */
import { fstatSync, ftruncateSync } from 'node:fs'
import type { SonicBoom } from 'sonic-boom'
import loadSonicBoom from './load-sonic-boom.cjs'

/**
 * Synchronous: once `append` returns, a killed process does not lose the text. The descriptor remains the caller's, because SonicBoom would
 * follow links and open files of other users.
 *
 * Not for the segments and acknowledgements of the spool: after a failed write these must know how many bytes the file has, and
 * SonicBoom keeps the rest for its next write (`writeAll`).
 */
export class TextAppender {
  readonly #fd: number
  readonly #file: SonicBoom
  #size: number
  #error: Error | undefined

  /** @param fd opened for appending, by `openOwn` or `openPrivate`, of a file to which nobody else appends @throws the system's errors */
  constructor(fd: number) {
    this.#fd = fd
    this.#size = fstatSync(fd).size
    // `dest`, because SonicBoom takes an `fd` of 0 for none. `retryEAGAIN`: an error, instead of a wait.
    this.#file = new (loadSonicBoom())({ dest: fd, sync: true, retryEAGAIN: () => false })
    this.#file.on('error', (error: Error) => (this.#error = error))
  }

  /** Size of the file in bytes. */
  get size(): number {
    return this.#size
  }

  /** Appends all of the text. After an error it removes what was written, if possible, and cannot be used again. @throws the system's errors */
  append(text: string): void {
    this.#file.write(text)
    if (this.#error === undefined) {
      this.#size += Buffer.byteLength(text)
      return
    }
    try {
      ftruncateSync(this.#fd, this.#size)
    } catch {
      // Ignored: the error of the write is thrown, and readers skip a partial line.
    }
    throw this.#error
  }
}
