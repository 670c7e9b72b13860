/** Stores entries that the service rejected, with its reason, as lines of JSON. */
import { closeSync, constants, fdatasyncSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DeadLetter } from '../batch/batch.js'
import type { Clock } from '../shared/clock.js'
import { openOwn, syncFolder } from '../shared/safe-files.js'
import { ensureFolder } from '../shared/safe-folders.js'
import { TextAppender } from '../shared/text-appender.js'
import { DEAD_LETTERS } from './disk-format.js'

const MAX_FILE_BYTES = 4 * 1024 * 1024

export interface DeadLetterFileOptions {
  readonly clock: Pick<Clock, 'now' | 'wallNow'>
  /** No letter is added to a file older than this, because `maxAgeMs` applies to whole files. Default: no limit. */
  readonly maxFileAgeMs?: number
  readonly isPowerSafe: boolean
}

export class DeadLetterFile {
  readonly #folder: string
  readonly #instance: string
  readonly #options: DeadLetterFileOptions
  #number = 0
  #begunAt = -Infinity

  /** @param destination folder of the destination, created with the first letter */
  constructor(destination: string, instance: string, options: DeadLetterFileOptions) {
    this.#folder = join(destination, DEAD_LETTERS)
    this.#instance = instance
    this.#options = options
  }

  /**
   * Writes all letters, or none if it throws. With `isPowerSafe` they survive a power failure when it returns. The
   * caller must settle their entries only afterwards. Opens the file each time: letters are rare, and the command line
   * may have purged the file.
   * @throws the system's errors, UnsafeError
   */
  write(letters: readonly DeadLetter[]): void {
    const { clock, maxFileAgeMs = Infinity, isPowerSafe } = this.#options
    const at = new Date(clock.wallNow()).toISOString()
    if (clock.now() - this.#begunAt >= maxFileAgeMs) {
      this.#number += 1
      this.#begunAt = clock.now()
    }
    const isNewFolder = ensureFolder(this.#folder)
    const fd = this.#open()
    try {
      const file = new TextAppender(fd)
      const isNewFile = file.size === 0
      file.append(letters.map((letter) => toDeadLetterLine(letter, at)).join(''))
      if (isPowerSafe) {
        fdatasyncSync(fd)
        if (isNewFile) syncFolder(this.#folder)
        if (isNewFolder) syncFolder(dirname(this.#folder))
      }
      if (file.size > MAX_FILE_BYTES) this.#number += 1
    } catch (error) {
      // The file may end with a partial line that could not be removed. Further letters are written to a new file.
      this.#number += 1
      throw error
    } finally {
      closeSync(fd)
    }
  }

  #open(): number {
    const name = `${this.#instance}-${String(this.#number).padStart(8, '0')}.ndjson`
    return openOwn(join(this.#folder, name), constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT)
  }
}

/**
 * One line with its newline. The entry is last and unchanged, because numbers too large for a double must be preserved.
 * Pure.
 */
export function toDeadLetterLine(
  { batchId, index, status, code, field, reason, entry }: DeadLetter,
  at: string,
): string {
  const head = JSON.stringify({ at, batch_id: batchId, index, status, code, field, reason })
  return `${head.slice(0, -1)},"entry":${entry}}\n`
}
