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
  /** Paths of the folders in the claimer's own that `claim` has returned. */
  #taken = new Set<string>()

  constructor(options: ClaimsOptions) {
    this.#options = options
    this.#leases = new LeaseWatch(options.clock)
  }

  /** Claims what is free, the oldest first: a step for each folder. Never throws. @returns the folders where they lie now */
  *claim(instance: Instance): Generator<string[]> {
    this.#leases.begin(() => instance.renew())
    for (const destination of this.#options.destinations) {
      for (const name of this.#namesIn(destination) ?? []) {
        const folder = this.#tryClaim(destination, name, instance)
        if (folder === undefined) yield []
        else yield* this.#arrived([folder], instance.claimedPath)
      }
    }
    // What is there, not what `rename` said: over a network it may report ENOENT for what it did.
    const names = this.#namesIn(instance.claimedPath)
    if (names === undefined) return
    const folders = names.filter((name) => INSTANCE_NAME.test(name)).map((name) => join(instance.claimedPath, name))
    yield* this.#arrived(folders, instance.claimedPath)
    this.#taken = new Set(folders)
  }

  /** @returns undefined where it cannot be listed for now */
  #namesIn(folder: string): string[] | undefined {
    try {
      return isOwnFolder(folder) ? namesIn(folder) : []
    } catch (error) {
      this.#options.onError(error)
      return undefined
    }
  }

  /** @returns where it lies now; undefined: it is not free */
  #tryClaim(destination: string, name: string, instance: Instance): string | undefined {
    const match = INSTANCE_NAME.exec(name)
    if (match?.[2] === undefined || match[1] === instance.name) return undefined
    const path = join(destination, name)
    const { machine, onError } = this.#options
    try {
      if (!isOwnFolder(path)) return undefined
      if (match[2] !== LEFT && !isAbandoned(path, machine, (folder) => this.#leases.isOver(folder))) return undefined
      if (hasForeignSegmentBelow(path)) {
        this.#leaveAlone(path)
        return undefined
      }
      ensureFolder(instance.claimedPath)
      // `.left` stays in its name: nothing more is written there, whoever reads it.
      const claimed = join(instance.claimedPath, match[2] === LEFT ? name : match[1] as string)
      renameSync(path, claimed)
      return claimed
    } catch (error) {
      // Another was quicker.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onError(error)
      return undefined
    }
  }

  *#arrived(folders: string[], claimedPath: string): Generator<string[]> {
    const { onError, onPreviousDrops } = this.#options
    // Grows meanwhile: what an ended process had claimed is moved up, so that paths do not grow with every death.
    for (const folder of folders) {
      if (this.#taken.has(folder)) continue
      folders.push(...moveUp(folder, claimedPath, onError))
      if (onPreviousDrops !== undefined) attempt(() => takeDrops(folder, onPreviousDrops), onError)
      yield [folder]
      // Behind the step: what fails there is given out again by the next `claim`.
      this.#taken.add(folder)
    }
  }

  #leaveAlone(path: string): void {
    if (this.#foreign.has(path)) return
    this.#foreign.add(path)
    this.#options.onForeign(path)
  }
}

/** @returns where they lie now. What cannot be moved is sent by the next process. Never throws */
function moveUp(folder: string, claimedPath: string, onError: (error: unknown) => void): string[] {
  const nested = join(folder, CLAIMED)
  const moved: string[] = []
  attempt(() => {
    for (const name of namesIn(nested)) {
      renameSync(join(nested, name), join(claimedPath, name))
      moved.push(join(claimedPath, name))
    }
    removeIfEmpty(nested)
  }, onError)
  return moved
}

function attempt(act: () => void, onError: (error: unknown) => void): void {
  try {
    act()
  } catch (error) {
    onError(error)
  }
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
