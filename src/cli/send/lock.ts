/** One process at a time sends a file. A folder, since making one is a single step that only one process succeeds with. */
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import type { Clock } from '../../clock.js'
import { LeaseWatch, RENEW_MS, isAbandoned, renewLease, writeOwner } from '../../spool/owner.js'
import type { Machine } from '../../spool/owner.js'

export class Lock {
  readonly #path: string
  readonly #machine: Machine
  readonly #clock: Clock
  #cancelTimer: () => void = () => {}

  private constructor(path: string, machine: Machine, clock: Clock) {
    this.#path = path
    this.#machine = machine
    this.#clock = clock
    this.#renewLater()
  }

  /** @returns undefined where a living process has it @throws the system's errors */
  static take(path: string, machine: Machine, clock: Clock): Lock | undefined {
    if (!make(path) && !(remove(path, machine, clock) && make(path))) return undefined
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
        renewLease(this.#path, this.#clock.wallNow(), this.#machine.self)
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
function remove(path: string, machine: Machine, clock: Clock): boolean {
  const watch = new LeaseWatch(clock)
  const aside = `${path}.${machine.self.pid}-${machine.self.thread}`
  try {
    if (!isAbandoned(path, machine, clock.wallNow(), watch)) return false
    renameSync(path, aside)
    // Another may have done the same, and made its own: then it was that one which was moved.
    if (!isAbandoned(aside, machine, clock.wallNow())) {
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
