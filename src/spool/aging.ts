/** What is too old, and what nobody sends any more: other destinations' folders are aged by whoever finds them. */
import { lstatSync, rmSync, unlinkSync } from 'node:fs'
import { uptime } from 'node:os'
import { join } from 'node:path'
import { isOwnFolder } from '../shared/safe-folders.js'
import { DEAD_LETTERS, DESTINATION_NAME, DROPS, INSTANCE_NAME, LEFT, OWNER, isJournal, isSegment, journalOf } from './format.js'
import { isAbandoned, readOwner } from './owner.js'
import type { LeaseWatch, Machine } from './owner.js'
import { bytesOf, filesBelow, namesIn } from './usage.js'
import type { FoundFile } from './usage.js'

export interface AgeOptions {
  readonly machine: Machine
  readonly wallNowMs: number
  readonly maxAgeMs: number
  /** Since the machine's boot; Infinity where it is not known. */
  readonly uptimeMs: () => number
}

export interface AgingOptions extends AgeOptions {
  readonly root: string
  /** Folders whose batches are sent: their segments age in the recovery. */
  readonly destinations: readonly string[]
  /** Folders that another spool of this process ages. */
  readonly siblings?: readonly string[] | undefined
  /** Whether other destinations are looked at. Default true. */
  readonly looksAtOthers?: boolean | undefined
  readonly leases: LeaseWatch
}

/** What lies there for another URL or key, and will not be sent. */
export interface Stranded {
  readonly folder: string
  readonly bytes: number
  /** Deleted, since it was too old. */
  readonly agedBytes: number
}

/** Before that, its own application may just be starting again. */
const STRANDED_AFTER_MS = 600_000
/** The default of `spool.maxAgeMs`. What another application chose is not known, and may be more than was chosen here. */
const FOREIGN_MAX_AGE_MS = 7 * 24 * 3600 * 1000

/** No segment is older: a device that did not know the time wrote it, and how old it is nobody knows. */
const EARLIEST_MS = Date.UTC(2025, 0, 1)

/**
 * A step for each folder.
 * @returns what is left of other destinations and has no owner, one after the other @throws the system's errors
 */
export function* age(options: AgingOptions): Generator<Stranded | undefined> {
  const { root, destinations, siblings = [], looksAtOthers = true, maxAgeMs } = options
  for (const name of namesIn(root).filter((one) => DESTINATION_NAME.test(one) && isOwnFolder(join(root, one)))) {
    const folder = join(root, name)
    if (siblings.includes(folder)) continue
    const isOurs = destinations.includes(folder)
    if (!isOurs && !looksAtOthers) continue
    const limits = isOurs ? options : { ...options, maxAgeMs: Math.max(maxAgeMs, FOREIGN_MAX_AGE_MS) }
    const letters = [...filesBelow(join(folder, DEAD_LETTERS))].filter((file) => isOld(file, limits))
    const letterBytes = letters.reduce((sum, { path }) => sum + unlink(path), 0)
    if (isOurs) continue
    const { bytes, agedBytes } = yield* ageInstances(folder, limits)
    yield { folder, bytes, agedBytes: agedBytes + letterBytes }
  }
}

function* ageInstances(destination: string, options: AgingOptions): Generator<undefined, Omit<Stranded, 'folder'>> {
  let bytes = 0
  let agedBytes = 0
  for (const name of namesIn(destination)) {
    yield
    const folder = join(destination, name)
    if (!INSTANCE_NAME.test(name) || !isOwnFolder(folder) || (!name.endsWith(LEFT) && !isFree(folder, options))) continue
    const segments = [...filesBelow(folder)].filter((file) => isSegment(file.name))
    const young = segments.filter((file) => !isExpired(file, options))
    for (const { path } of segments.filter((file) => !young.includes(file))) agedBytes += unlink(path) + unlink(journalOf(path))
    const waiting = young.filter((file) => isOld(file, { ...options, maxAgeMs: STRANDED_AFTER_MS }))
    bytes += waiting.reduce((sum, file) => sum + file.bytes, 0)
    if (young.length === 0 && [...filesBelow(folder)].every((file) => file.name === OWNER || isJournal(file.name) || (file.name === DROPS && isExpired(file, options)))) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return { bytes, agedBytes }
}

function isFree(folder: string, { machine, leases }: AgingOptions): boolean {
  try {
    return isAbandoned(folder, machine, (one) => leases.isOver(one))
  } catch {
    return false // it vanished: whoever took it has it
  }
}

/**
 * Whether a dead process's segment is too old. The wall clock may have been corrected forward since it was written, on a
 * device that starts without the time; what was written since the boot is no older than the boot.
 */
function isExpired({ path, modifiedAtMs }: Pick<FoundFile, 'path' | 'modifiedAtMs'>, options: AgeOptions): boolean {
  if (!isOld({ modifiedAtMs }, options)) return false
  const { machine: { self: { boot } }, maxAgeMs, uptimeMs } = options
  return boot === undefined || readOwner(join(path, '..'))?.boot !== boot || uptimeMs() > maxAgeMs
}

/** The same, for what is sent when it is young enough. @throws the system's errors */
export function isClaimExpired(path: string, options: AgeOptions): boolean {
  const modifiedAtMs = lstatSync(path).mtimeMs
  return modifiedAtMs >= EARLIEST_MS && isExpired({ path, modifiedAtMs }, options)
}

function isOld({ modifiedAtMs }: Pick<FoundFile, 'modifiedAtMs'>, { wallNowMs, maxAgeMs }: Pick<AgeOptions, 'wallNowMs' | 'maxAgeMs'>): boolean {
  return wallNowMs - modifiedAtMs > maxAgeMs
}

/** Milliseconds since the machine's boot, also those in which it slept. */
export function systemUptimeMs(): number {
  try {
    return uptime() * 1000
  } catch {
    return Infinity // not every system tells it to everyone
  }
}

/** @returns the bytes that went */
function unlink(path: string): number {
  const bytes = bytesOf(path)
  try {
    unlinkSync(path)
    return bytes
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // Another process was quicker.
    return 0
  }
}
