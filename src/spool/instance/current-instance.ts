/** The instance folder of this spool: created when it is first needed, replaced after another process has claimed or deleted it. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Segment } from '../segment/segment.js'
import { writeDescription } from '../destination-file.js'
import type { DestinationDescription } from '../destination-file.js'
import { ensureDestination } from '../spool-root.js'
import { InstanceFolder } from './instance-folder.js'
import type { InstanceFolderOptions } from './instance-folder.js'

export interface CurrentInstanceOptions extends InstanceFolderOptions {
  readonly root: string
  /** Whether the user configured the root. */
  readonly isNamed: boolean
  readonly destination: string
  readonly description: DestinationDescription
  /** Names of files in the destination's folder that hold only while no process sends its entries. */
  readonly markers: readonly string[]
}

export class CurrentInstance {
  readonly #options: CurrentInstanceOptions
  #folder: InstanceFolder | undefined

  constructor(options: CurrentInstanceOptions) {
    this.#options = options
  }

  /** Undefined before the first call of `ensure`, and after `clear`. */
  get folder(): InstanceFolder | undefined {
    return this.#folder
  }

  get segments(): ReadonlyMap<number, Segment> {
    return this.#folder?.segments ?? new Map<number, Segment>()
  }

  /** Size of the segment that is being written. */
  get openBytes(): number {
    let bytes = 0
    for (const segment of this.segments.values()) if (!segment.isComplete) bytes += segment.writtenBytes
    return bytes
  }

  /** @param findFreeInstance see `InstanceFolder` @returns the folder; creates it if there is none @throws the system's errors, UnsafeError */
  ensure(findFreeInstance?: () => string | undefined): InstanceFolder {
    if (this.#folder !== undefined) return this.#folder
    const { root, destination, description, markers } = this.#options
    ensureDestination(root, destination, this.#options)
    writeDescription(destination, description)
    // Entries of this destination are sent from now on; if some are stranded later, they are reported again.
    for (const name of markers) rmSync(join(destination, name), { force: true })
    return (this.#folder = new InstanceFolder(destination, this.#options, findFreeInstance))
  }

  /** Forgets the folder: it was closed, claimed or deleted. */
  clear(): void {
    this.#folder = undefined
  }
}
