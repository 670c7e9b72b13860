/** What is too old, and what nobody sends any more: other destinations' folders are aged by whoever finds them. */
import { rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnFolder } from './folders.js'
import { DEAD_LETTERS, DESTINATION_NAME, INSTANCE_NAME, LEFT, OWNER, isJournal, isSegment, journalOf } from './format.js'
import { isAbandoned } from './owner.js'
import type { Machine } from './owner.js'
import { filesBelow, namesIn } from './usage.js'
import type { FoundFile } from './usage.js'

export interface AgingOptions {
  readonly root: string
  /** Folders whose batches are sent: their segments age in the recovery. */
  readonly destinations: readonly string[]
  readonly machine: Machine
  readonly wallNowMs: number
  readonly maxAgeMs: number
}

/** What lies there for another URL or key, and will not be sent. */
export interface Stranded {
  readonly folder: string
  readonly bytes: number
}

/** Before that, its own application may just be starting again. */
const STRANDED_AFTER_MS = 600_000

/** @returns what is left of other destinations and has no owner @throws the system's errors */
export function age(options: AgingOptions): Stranded[] {
  const { root, destinations } = options
  const stranded: Stranded[] = []
  for (const name of namesIn(root).filter((one) => DESTINATION_NAME.test(one) && isOwnFolder(join(root, one)))) {
    const folder = join(root, name)
    for (const file of filesBelow(join(folder, DEAD_LETTERS))) if (isOld(file, options)) unlink(file.path)
    if (destinations.includes(folder)) continue
    const bytes = ageInstances(folder, options)
    if (bytes > 0) stranded.push({ folder, bytes })
  }
  return stranded
}

function ageInstances(destination: string, options: AgingOptions): number {
  let bytes = 0
  for (const name of namesIn(destination)) {
    const folder = join(destination, name)
    if (!INSTANCE_NAME.test(name) || !isOwnFolder(folder) || (!name.endsWith(LEFT) && !isFree(folder, options))) continue
    const segments = [...filesBelow(folder)].filter((file) => isSegment(file.name))
    const young = segments.filter((file) => !isOld(file, options))
    for (const { path } of segments.filter((file) => !young.includes(file))) {
      unlink(path)
      unlink(journalOf(path))
    }
    const waiting = young.filter((file) => isOld(file, { ...options, maxAgeMs: STRANDED_AFTER_MS }))
    bytes += waiting.reduce((sum, file) => sum + file.bytes, 0)
    if (young.length === 0 && [...filesBelow(folder)].every((file) => file.name === OWNER || isJournal(file.name))) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return bytes
}

function isFree(folder: string, { machine, wallNowMs }: AgingOptions): boolean {
  try {
    return isAbandoned(folder, machine, wallNowMs)
  } catch {
    return false // it vanished: whoever took it has it
  }
}

export function isOld({ modifiedAtMs }: Pick<FoundFile, 'modifiedAtMs'>, { wallNowMs, maxAgeMs }: Pick<AgingOptions, 'wallNowMs' | 'maxAgeMs'>): boolean {
  return wallNowMs - modifiedAtMs > maxAgeMs
}

function unlink(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Another process was quicker.
  }
}
