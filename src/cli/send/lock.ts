/** One process at a time sends a file. A folder, since making one is a single step that only one process succeeds with. */
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import type { Clock } from '../../shared/clock.js'
import { RENEW_MS, isAbandoned, isLeaseExpired, writeOwner } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'

export class Lock {
  readonly #path: string
  readonly #machine: Machine
  readonly #clock: Clock
  #renewals = 0
  #cancelTimer: () => void = () => {}

  private constructor(path: string, machine: Machine, clock: Clock) {
    this.#path = path
    this.#machine = machine
    this.#clock = clock
    this.#renewLater()
  }

  /** @returns undefined where a living process has it @throws the system's errors */
  static take(path: string, machine: Machine, clock: Clock): Lock | undefined {
    if (!make(path) && !(remove(path, machine) && make(path))) return undefined
    writeOwner(path, machine.self)
    return new Lock(path, machine, clock)
  }

  /** Throws the system's errors. */
  release(): void {
    this.#cancelTimer()
    rmSync(this.#path, { recursive: true, force: true })
  }

  #renewLater(): void {
    this.#cancelTimer = this.#clock.timer(RENEW_MS, () => {
      try {
        writeOwner(this.#path, this.#machine.self, ++this.#renewals)
      } catch {
        // Tried again in a few seconds; the lease is six times as long.
      }
      this.#renewLater()
    })
  }
}

/** @returns false where there is one */
function make(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

/** What a process left that was killed. @returns false where it is a living one's */
function remove(path: string, machine: Machine): boolean {
  const aside = `${path}.${machine.self.pid}-${machine.self.thread}`
  try {
    // Reads the file system's clock: this machine's clock may differ, and another machine may hold the lock.
    const probe = mkdtempSync(`${aside}-`)
    const now = writeOwner(probe, machine.self)
    rmSync(probe, { recursive: true })
    const isFree = (folder: string): boolean => isAbandoned(folder, machine, (one) => isLeaseExpired(one, now))
    if (!isFree(path)) return false
    renameSync(path, aside)
    // Another process may have removed the old lock and taken its own: then that one was moved.
    if (!isFree(aside)) {
      renameSync(aside, path)
      return false
    }
    rmSync(aside, { recursive: true, force: true })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'EEXIST' || code === 'ENOTEMPTY') return false
    throw error
  }
}
