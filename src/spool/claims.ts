/** Takes over the folders of dead instances: each by one rename into the claimer's own. */
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock } from '../clock.js'
import type { UnreportedDrops } from '../notice.js'
import { ensureFolder, isOwnFolder } from '../shared/safe-folders.js'
import { takeDrops } from './drops.js'
import { CLAIMED, INSTANCE_NAME, LEFT, OWNER, isJournal } from './format.js'
import { removeIfEmpty } from './instance.js'
import type { Instance } from './instance.js'
import { LeaseWatch, isAbandoned } from './owner.js'
import type { Machine } from './owner.js'
import { hasForeignSegmentBelow } from './survey.js'
import { namesIn } from './usage.js'

export interface ClaimsOptions {
  /** Folders of the destinations whose batches are sent: the own first, then those of earlier keys. */
  readonly destinations: readonly string[]
  readonly machine: Machine
  readonly clock: Clock
  readonly onError: (error: unknown) => void
  /** Another version's folder, left alone. */
  readonly onForeign: (path: string) => void
  /** Unreported drops of a dead process. Must have saved them when it returns. Default: they stay in its folder. */
  readonly onPreviousDrops?: ((drops: UnreportedDrops) => void) | undefined
}

export class Claims {
  readonly #options: ClaimsOptions
  readonly #foreign = new Set<string>()
  readonly #leases: LeaseWatch

  constructor(options: ClaimsOptions) {
    this.#options = options
    this.#leases = new LeaseWatch(options.clock)
  }

  /** Claims what is free. Never throws. @returns the folders where they lie now */
  claim(instance: Instance): string[] {
    return this.#options.destinations.flatMap((destination) => this.#namesIn(destination).flatMap((name) => this.#tryClaim(destination, name, instance)))
  }

  #namesIn(destination: string): string[] {
    try {
      return isOwnFolder(destination) ? namesIn(destination) : []
    } catch (error) {
      this.#options.onError(error)
      return []
    }
  }

  #tryClaim(destination: string, name: string, instance: Instance): string[] {
    const match = INSTANCE_NAME.exec(name)
    if (match?.[2] === undefined || match[1] === instance.name) return []
    const path = join(destination, name)
    const { machine, clock, onError, onPreviousDrops } = this.#options
    const folders: string[] = []
    try {
      if (!isOwnFolder(path)) return []
      if (match[2] !== LEFT && !isAbandoned(path, machine, clock.wallNow(), this.#leases)) return []
      if (hasForeignSegmentBelow(path)) return this.#leaveAlone(path)
      ensureFolder(instance.claimedPath)
      const claimed = join(instance.claimedPath, match[1] as string)
      renameSync(path, claimed)
      folders.push(claimed)
      moveUp(claimed, instance.claimedPath, folders)
      if (onPreviousDrops !== undefined) for (const folder of folders) takeDrops(folder, onPreviousDrops)
    } catch (error) {
      // Another was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error)
    }
    return folders
  }

  #leaveAlone(path: string): [] {
    if (!this.#foreign.has(path)) {
      this.#foreign.add(path)
      this.#options.onForeign(path)
    }
    return []
  }
}

/** Also what the dead had claimed, and their dead: moved up, so that paths do not grow with every death. @throws the system's errors */
function moveUp(folder: string, claimedPath: string, folders: string[]): void {
  const nested = join(folder, CLAIMED)
  for (const name of namesIn(nested)) {
    const up = join(claimedPath, name)
    renameSync(join(nested, name), up)
    folders.push(up)
    moveUp(up, claimedPath, folders)
  }
  removeIfEmpty(nested)
}

/** Deletes what was claimed, when its last segment is gone. */
export function removeIfSettled(folder: string, onError: (error: unknown) => void): void {
  try {
    if (!readdirSync(folder).every((name) => name === OWNER || isJournal(name))) return
    rmSync(folder, { recursive: true, force: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error)
  }
}
