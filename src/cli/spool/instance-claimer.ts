/** Takes over folders that are free, one by one, as an application would all of them: each by one rename into a folder of its own. */
import { renameSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Clock } from '../../shared/clock.js'
import { ensureFolder } from '../../shared/safe-folders.js'
import { LEFT } from '../../spool/disk-format.js'
import type { FoundInstance } from '../../spool/inspect.js'
import { InstanceFolder } from '../../spool/instance/instance-folder.js'
import { RENEW_MS, isAbandoned, isLeaseExpired } from '../../spool/instance/ownership.js'
import type { Machine } from '../../spool/instance/ownership.js'
import { PeriodicTasks } from '../../spool/periodic-tasks.js'

export interface InstanceClaimerOptions {
  readonly root: string
  /** Name of the destination in which its folder is made: what it claims, and does not settle, is sent as what lies there. */
  readonly destination: string
  readonly machine: Machine
  readonly clock: Clock
  /** This process stood still for so long that another took over what it had claimed. */
  readonly onLost: () => void
}

/** What was claimed is at this path; or why it was not. */
export type Claim = { readonly path: string } | { readonly why: string }

export class InstanceClaimer {
  readonly instance: InstanceFolder
  readonly #options: InstanceClaimerOptions
  readonly #rounds: PeriodicTasks
  #isLost = false

  /** @throws the system's errors, UnsafeError */
  constructor(options: InstanceClaimerOptions) {
    this.#options = options
    const { root, destination, clock, machine } = options
    ensureFolder(join(root, destination))
    this.instance = new InstanceFolder(join(root, destination), { clock, machine, isPowerSafe: false })
    this.#rounds = new PeriodicTasks({
      clock,
      renewMs: RENEW_MS,
      isPowerSafe: false,
      renew: () => this.#renew(),
      scan: () => {},
      sync: () => {},
    })
    this.#rounds.start()
  }

  /** Whether another took over all of it. */
  get isLost(): boolean {
    return this.#isLost
  }

  /**
   * Never throws.
   * @param suffix of its name from now on: with `.left` it is free for whoever reads the folder of what was claimed
   */
  claim(found: FoundInstance, suffix: '' | typeof LEFT): Claim {
    const { root, machine } = this.#options
    const destination = join(root, found.destination)
    const [top = ''] = relative(destination, found.path).split(sep)
    try {
      // Checked again: time has passed since the folder was listed.
      if (
        !top.endsWith(LEFT) &&
        !isAbandoned(join(destination, top), machine, (folder) => isLeaseExpired(folder, this.instance.renew()))
      )
        return { why: describeHolder(found) }
      const path = join(this.instance.claimedPath, found.name + suffix)
      ensureFolder(this.instance.claimedPath)
      renameSync(found.path, path)
      return { path }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT')
        return { why: 'another process has taken it over meanwhile' }
      return { why: error instanceof Error ? error.message : String(error) }
    }
  }

  /** What is still in the folder is free for the next who comes. @throws the system's errors */
  release(): void {
    this.#rounds.stop()
    this.instance.release()
  }

  #renew(): void {
    try {
      if (this.instance.isInPlace()) return void this.instance.renew()
    } catch {
      return // tried again in a few seconds; the lease is six times as long
    }
    this.#isLost = true
    this.#rounds.stop()
    this.instance.abandon()
    this.#options.onLost()
  }
}

/** Why something that is not free is left alone. */
export function describeHolder({ state, pid, claimedBy }: FoundInstance): string {
  if (state === 'claimed') return `it is held by ${claimedBy}, whose process lives`
  return `it is held by a living process${pid === undefined ? '' : ` (pid ${pid})`}`
}
