/** Entries that the service refused, with its reason: kept for people, in lines of JSON. */
import { closeSync, constants, fstatSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DeadLetter } from '../sender.js'
import { openOwn } from '../shared/safe-files.js'
import { ensureFolder } from '../shared/safe-folders.js'
import { DEAD_LETTERS } from './format.js'

const MAX_FILE_BYTES = 4 * 1024 * 1024

export class DeadLetters {
  readonly #folder: string
  readonly #instance: string
  readonly #wallNow: () => number
  #number = 1

  /** @param destination folder of the destination; nothing is made before the first letter */
  constructor(destination: string, instance: string, wallNow: () => number) {
    this.#folder = join(destination, DEAD_LETTERS)
    this.#instance = instance
    this.#wallNow = wallNow
  }

  /**
   * Written when it returns. The file is opened each time: letters are rare, and the command line may have purged it.
   * @throws the system's errors, UnsafeError
   */
  write(letters: readonly DeadLetter[]): void {
    const at = new Date(this.#wallNow()).toISOString()
    ensureFolder(this.#folder)
    const fd = this.#open()
    try {
      writeSync(fd, letters.map((letter) => lineOf(letter, at)).join(''))
      if (fstatSync(fd).size > MAX_FILE_BYTES) this.#number += 1
    } catch (error) {
      // What was half written is a line that does not parse; the next file begins clean.
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

/** With its newline. The entry last and as it stands: numbers too large for a double must survive. Pure. */
export function lineOf({ batchId, index, status, code, field, reason, entry }: DeadLetter, at: string): string {
  const head = JSON.stringify({ at, batch_id: batchId, index, status, code, field, reason })
  return `${head.slice(0, -1)},"entry":${entry}}\n`
}
