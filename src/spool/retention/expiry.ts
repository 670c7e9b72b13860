/**
 * Deletes expired entries and finds entries that no process sends. Every process also expires entries of other
 * destinations.
 */
import { existsSync, lstatSync, rmSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnFolder } from '../../shared/safe-folders.js'
import {
  DEAD_LETTERS,
  DESTINATION_NAME,
  INSTANCE_NAME,
  LEFT,
  OWNER,
  isAcknowledgementLog,
  isSegment,
  toAcknowledgementLogPath,
} from '../disk-format.js'
import { isAbandoned, readOwner } from '../instance/ownership.js'
import type { LeaseWatch, Machine } from '../instance/ownership.js'
import { readSizeOnDisk, walkFiles, listNames } from '../spool-files.js'
import type { FoundFile } from '../spool-files.js'

export interface AgeLimit {
  readonly machine: Machine
  readonly wallNowMs: number
  readonly maxAgeMs: number
}

export interface ExpiryOptions extends AgeLimit {
  readonly root: string
  /** Folders whose batches are sent. `Recovery` expires their segments. */
  readonly destinations: readonly string[]
  /** Folders that another spool of this process expires. */
  readonly siblings: readonly string[]
  /** Names of markers in the folders of other keys that the service of this process rejected. */
  readonly rejectedMarkers: readonly string[]
  /** Whether other destinations are scanned. */
  readonly shouldScanOthers: boolean
  readonly leases: LeaseWatch
}

/** Entries stored for another URL or key, which this process does not send. */
export interface StrandedEntries {
  readonly folder: string
  readonly bytes: number
  /** Bytes deleted because of their age. */
  readonly expiredBytes: number
}

/** Entries are reported as stranded after this time, since until then their own application may be restarting. */
const STRANDED_AFTER_MS = 600_000
/** The default of `spool.maxAgeMs`. Another application's setting is unknown and may be larger than this application's. */
const FOREIGN_MAX_AGE_MS = 7 * 24 * 3600 * 1000

/** No segment is older. An earlier time was written with a wrong clock, so the segment's age is unknown. */
const EARLIEST_MS = Date.UTC(2025, 0, 1)

/**
 * Deletes old files, one folder per step.
 * @returns yields the folders of other destinations that have entries without an owner
 * @throws the system's errors
 */
export function* deleteExpired(options: ExpiryOptions): Generator<StrandedEntries | undefined> {
  const { root, destinations, siblings, shouldScanOthers, maxAgeMs } = options
  for (const name of listNames(root).filter((one) => DESTINATION_NAME.test(one) && isOwnFolder(join(root, one)))) {
    const folder = join(root, name)
    if (siblings.includes(folder)) continue
    const isOurs = destinations.includes(folder)
    if (!isOurs && !shouldScanOthers) continue
    const limits = isOurs ? options : { ...options, maxAgeMs: Math.max(maxAgeMs, FOREIGN_MAX_AGE_MS) }
    const letters = [...walkFiles(join(folder, DEAD_LETTERS))].filter((file) => isOld(file, limits))
    const letterBytes = letters.reduce((sum, { path }) => sum + unlink(path), 0)
    if (isOurs) continue
    const { bytes, expiredBytes } = yield* expireInstances(folder, limits)
    yield { folder, bytes, expiredBytes: expiredBytes + letterBytes }
  }
}

function* expireInstances(
  destination: string,
  options: ExpiryOptions,
): Generator<undefined, Omit<StrandedEntries, 'folder'>> {
  // No process will send entries of a rejected key, so these are reported at once.
  const isKeyRejected = options.rejectedMarkers.some((name) => existsSync(join(destination, name)))
  const strandedAfterMs = isKeyRejected ? -Infinity : STRANDED_AFTER_MS
  let bytes = 0
  let expiredBytes = 0
  for (const name of listNames(destination)) {
    yield
    const folder = join(destination, name)
    if (!INSTANCE_NAME.test(name) || !isOwnFolder(folder) || (!name.endsWith(LEFT) && !isFree(folder, options)))
      continue
    const segments = [...walkFiles(folder)].filter((file) => isSegment(file.name))
    const young = segments.filter((file) => !isExpired(file, options))
    for (const { path } of segments.filter((file) => !young.includes(file)))
      expiredBytes += unlink(path) + unlink(toAcknowledgementLogPath(path))
    const waiting = young.filter((file) => isOld(file, { ...options, maxAgeMs: strandedAfterMs }))
    bytes += waiting.reduce((sum, file) => sum + file.bytes, 0)
    if (
      young.length === 0 &&
      [...walkFiles(folder)].every((file) => file.name === OWNER || isAcknowledgementLog(file.name))
    ) {
      rmSync(folder, { recursive: true, force: true })
    }
  }
  return { bytes, expiredBytes }
}

function isFree(folder: string, { machine, leases }: ExpiryOptions): boolean {
  try {
    return isAbandoned(folder, machine, (one) => leases.isExpired(one))
  } catch {
    return false // it is gone: another process has claimed it
  }
}

/**
 * Whether a segment of an exited process is too old. A segment written since the boot is not older than the boot, even
 * if a device that started with a wrong clock has corrected it forward in the meantime.
 */
function isExpired({ path, modifiedAtMs }: Pick<FoundFile, 'path' | 'modifiedAtMs'>, options: AgeLimit): boolean {
  if (!isOld({ modifiedAtMs }, options)) return false
  const { self, uptimeMs } = options.machine
  const isThisBoot = self.boot !== undefined && readOwner(join(path, '..'))?.boot === self.boot
  return !isThisBoot || uptimeMs() > options.maxAgeMs
}

/**
 * As `isExpired`, for a claimed segment. A segment with a time before `EARLIEST_MS` is not expired. @throws the
 * system's errors
 */
export function isClaimExpired(path: string, options: AgeLimit): boolean {
  const modifiedAtMs = lstatSync(path).mtimeMs
  return modifiedAtMs >= EARLIEST_MS && isExpired({ path, modifiedAtMs }, options)
}

function isOld(
  { modifiedAtMs }: Pick<FoundFile, 'modifiedAtMs'>,
  { wallNowMs, maxAgeMs }: Pick<AgeLimit, 'wallNowMs' | 'maxAgeMs'>,
): boolean {
  return wallNowMs - modifiedAtMs > maxAgeMs
}

/** @returns the bytes that were freed */
function unlink(path: string): number {
  const bytes = readSizeOnDisk(path)
  try {
    unlinkSync(path)
    return bytes
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    // ENOENT: another process deleted it first.
    return 0
  }
}
