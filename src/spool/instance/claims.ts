/** Claims the folders of ended instances, each by one rename into the claimer's folder. */
import { renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Clock } from '../../shared/clock.js'
import { isInUse } from '../../shared/safe-files.js'
import { isOwnFolder } from '../../shared/safe-folders.js'
import { INSTANCE_NAME, LEFT, LIVE } from '../disk-format.js'
import type { InstanceFolder } from './instance-folder.js'
import { LeaseWatch, isAbandoned } from './ownership.js'
import type { Machine } from './ownership.js'
import { hasForeignVersionBelow } from '../format-version.js'
import { listNames } from '../spool-files.js'

export interface ClaimsOptions {
  /** Destination folders whose batches are sent: this spool's own first, then those of previous keys. */
  readonly destinations: readonly string[]
  readonly machine: Machine
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** Called with a folder of another format version, which is not claimed. */
  readonly onForeign: (path: string) => void
}

export class Claims {
  readonly #options: ClaimsOptions
  readonly #foreign = new Set<string>()
  readonly #leases: LeaseWatch
  /** Paths of the claimed folders that `claim` has already returned. */
  #returned = new Set<string>()

  constructor(options: ClaimsOptions) {
    this.#options = options
    this.#leases = new LeaseWatch(options.clock)
  }

  /** Claims all free folders, oldest first, one folder per step. Never throws. @returns the new paths of the claimed folders */
  *claim(instance: InstanceFolder): Generator<string[]> {
    this.#leases.beginScan(() => instance.renew())
    for (const destination of this.#options.destinations) {
      for (const name of this.#namesIn(destination) ?? []) {
        const folder = this.#ifFree(join(destination, name), (path) => claimFolder(path, instance))
        if (folder === undefined) yield []
        else yield* this.#returnNew([folder], instance.path)
      }
    }
    // Checks the folder's content instead of the result of `rename`: on a network file system a successful rename may
    // report ENOENT.
    const names = this.#namesIn(instance.path)
    if (names === undefined) return
    const folders = names.filter((name) => INSTANCE_NAME.test(name)).map((name) => join(instance.path, name))
    if (instance.claimedInPlace !== undefined) folders.unshift(instance.path)
    yield* this.#returnNew(folders, instance.path)
    this.#returned = new Set(folders)
  }

  /** @returns a folder that may be claimed, for a process that cannot create its own. Never throws */
  findFreeInstance(): string | undefined {
    // The file system's time is unknown, because no file can be written.
    this.#leases.beginScan(() => -Infinity)
    const paths = this.#options.destinations.flatMap((one) => (this.#namesIn(one) ?? []).map((name) => join(one, name)))
    return paths.find((path) => this.#ifFree(path, () => path) !== undefined)
  }

  /** @returns undefined if the folder cannot be listed at present */
  #namesIn(folder: string): string[] | undefined {
    try {
      return isOwnFolder(folder) ? listNames(folder) : []
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  /** Calls `act` if the folder may be claimed. @returns its result; undefined if the folder is not free or `act` failed */
  #ifFree(path: string, act: (path: string) => string): string | undefined {
    const suffix = INSTANCE_NAME.exec(basename(path))?.[2]
    const { machine, onError } = this.#options
    try {
      if (suffix === undefined || !isOwnFolder(path)) return undefined
      if (suffix !== LEFT && !isAbandoned(path, machine, (folder) => this.#leases.isExpired(folder))) return undefined
      if (!hasForeignVersionBelow(path)) return act(path)
      if (!this.#foreign.has(path)) this.#options.onForeign(path)
      this.#foreign.add(path)
      return undefined
    } catch (error) {
      // ENOENT: another process claimed it first. In use on Windows: its process runs, or another program scans it; tried at the next scan.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' && !isInUse(error, machine.platform)) onError(error)
      return undefined
    }
  }

  /** Yields the folders that were not returned before. */
  *#returnNew(folders: string[], claimerPath: string): Generator<string[]> {
    // The loop extends `folders`. Nested claimed folders are moved up, so paths do not get longer with every claim.
    for (const folder of folders) {
      if (this.#returned.has(folder)) continue
      if (folder !== claimerPath) folders.push(...moveNestedUp(folder, claimerPath, this.#options.onError))
      yield [folder]
      // After `yield`: if the caller fails, the next `claim` returns the folder again.
      this.#returned.add(folder)
    }
  }
}

/** @returns the folder's new path @throws the system's errors, UnsafeError */
export function claimFolder(path: string, instance: InstanceFolder): string {
  // Keeps the suffix `.left`, which marks a folder that is no longer written to.
  const claimed = join(instance.path, basename(path, LIVE))
  renameSync(path, claimed)
  return claimed
}

/**
 * Moves up the folders that an exited process had claimed. @returns their new paths. The next process sends those that
 * cannot be moved. Never throws
 */
function moveNestedUp(folder: string, claimerPath: string, onError: (error: unknown) => void): string[] {
  const moved: string[] = []
  try {
    for (const name of listNames(folder).filter((one) => INSTANCE_NAME.test(one))) {
      renameSync(join(folder, name), join(claimerPath, name))
      moved.push(join(claimerPath, name))
    }
  } catch (error) {
    onError(error)
  }
  return moved
}
