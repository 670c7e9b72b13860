/** Reads a root without owning it, for people: nothing is claimed, changed or deleted, and no link is followed. */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { checkNamedRoot, isOwnFolder } from '../shared/safe-folders.js'
import {
  CLAIMED,
  DEAD_LETTERS,
  DESTINATION_NAME,
  INSTANCE_NAME,
  LEFT,
  OWNER,
  SEGMENT_HEADER_BYTES,
  isSegment,
  toAcknowledgementLogPath,
} from './disk-format.js'
import { readAcknowledgements } from './segment/acknowledgement-log.js'
import type { Settlement } from './segment/acknowledgement-log.js'
import { LEASE_MS, isLeaseExpired, isOwnerAlive, readOwner } from './instance/ownership.js'
import type { Machine } from './instance/ownership.js'
import { MAX_POSITIONS, PositionSet } from './segment/position-set.js'
import { SegmentReader } from './segment/segment-reader.js'
import type { ReadBatch } from './segment/segment-reader.js'
import { openSegment } from './segment/segment.js'
import { hasForeignVersion } from './segment/format-version.js'
import { walkFiles, listNames } from './spool-files.js'
import type { FoundFile } from './spool-files.js'

export interface FoundInstance {
  /** Without what says whether it lives. */
  readonly name: string
  readonly path: string
  /** Name of the destination's folder. */
  readonly destination: string
  /** `live`: its process lives, or is not known to be dead; `claimed`: taken over from the dead by `claimedBy`. */
  readonly state: 'live' | 'dead' | 'left' | 'claimed'
  /** Whether it may be claimed: nobody holds it, or not any more. */
  readonly isFree: boolean
  /** Of the writer, as it said itself; undefined where that is not to be read. */
  readonly pid: number | undefined
  /** Milliseconds since the writer last renewed its lease; undefined without `owner`. */
  readonly leaseAgeMs: number | undefined
  readonly isLeaseFresh: boolean
  readonly claimedBy: string | undefined
  /** The oldest first. */
  readonly segments: readonly FoundFile[]
  /** Of its segments and journals, without what it claimed. */
  readonly bytes: number
  /** Another version of the format wrote there: it is not read. */
  readonly isForeign: boolean
}

export interface FoundDestination {
  readonly name: string
  readonly path: string
  /** The oldest first; what one has claimed follows it. */
  readonly instances: readonly FoundInstance[]
  /** Files of dead letters. */
  readonly deadLetters: readonly FoundFile[]
}

export interface InspectOptions {
  readonly machine: Machine
  readonly wallNowMs: number
}

/**
 * What lies below a root, in order of age. What vanishes meanwhile is not there.
 * @throws UnsafeError for a root that is a link, no folder or another user's; the system's error where there is none
 */
export function inspectRoot(root: string, options: InspectOptions): FoundDestination[] {
  checkNamedRoot(root)
  return listNames(root)
    .filter((name) => DESTINATION_NAME.test(name))
    .flatMap((name) => {
      const path = join(root, name)
      if (!isFolder(path)) return []
      return [
        {
          name,
          path,
          instances: instancesIn(path, name, options),
          deadLetters: filesIn(join(path, DEAD_LETTERS), (one) => one.endsWith('.ndjson')),
        },
      ]
    })
}

function instancesIn(path: string, destination: string, options: InspectOptions): FoundInstance[] {
  return listNames(path).flatMap((folder) => {
    const [, name, suffix] = INSTANCE_NAME.exec(folder) ?? []
    const at = join(path, folder)
    if (name === undefined || suffix === undefined || !isFolder(at)) return []
    return withClaimed(
      { ...look(at, name, destination, options), ...stateOf(at, suffix, options), claimedBy: undefined },
      options,
    )
  })
}

/** With what it has claimed, and with what that had claimed: a claimer may die, too. */
function withClaimed(instance: FoundInstance, options: InspectOptions): FoundInstance[] {
  const claimed = join(instance.path, CLAIMED)
  if (!isFolder(claimed)) return [instance]
  return [
    instance,
    ...listNames(claimed).flatMap((folder) => {
      const [, name] = INSTANCE_NAME.exec(folder) ?? []
      const path = join(claimed, folder)
      if (name === undefined || !isFolder(path)) return []
      const found = look(path, name, instance.destination, options)
      return withClaimed({ ...found, state: 'claimed', isFree: instance.isFree, claimedBy: instance.name }, options)
    }),
  ]
}

type Looked = Omit<FoundInstance, 'state' | 'isFree' | 'claimedBy'>

function look(path: string, name: string, destination: string, { wallNowMs }: InspectOptions): Looked {
  const files = filesIn(path, () => true)
  const owner = files.find((file) => file.name === OWNER)
  const pid = readOwner(path)?.pid
  const leaseAgeMs = owner === undefined ? undefined : Math.max(0, wallNowMs - owner.modifiedAtMs)
  return {
    name,
    path,
    destination,
    leaseAgeMs,
    pid: Number.isSafeInteger(pid) ? pid : undefined,
    isLeaseFresh: leaseAgeMs !== undefined && leaseAgeMs <= LEASE_MS,
    segments: files.filter((file) => isSegment(file.name)),
    bytes: files.filter((file) => file.name !== OWNER).reduce((sum, file) => sum + file.bytes, 0),
    isForeign: hasForeignVersion(path),
  }
}

function stateOf(
  path: string,
  suffix: string,
  { machine, wallNowMs }: InspectOptions,
): Pick<FoundInstance, 'state' | 'isFree'> {
  if (suffix === LEFT) return { state: 'left', isFree: true }
  try {
    // By this machine's clock: inspecting writes no file, from which the file system's clock could be read. A claim does.
    const isFree = !(isOwnerAlive(path, machine) ?? !isLeaseExpired(path, wallNowMs))
    return { state: isFree ? 'dead' : 'live', isFree }
  } catch {
    return { state: 'dead', isFree: false } // claimed or closed this instant
  }
}

function filesIn(folder: string, isWanted: (name: string) => boolean): FoundFile[] {
  return isFolder(folder) ? [...walkFiles(folder, 0)].filter(({ name }) => isWanted(name)) : []
}

function isFolder(path: string): boolean {
  try {
    return isOwnFolder(path)
  } catch {
    return false // not to be looked at: nothing of ours is in it
  }
}

/** A batch of which something is not settled. */
export interface UnsettledBatch {
  readonly read: ReadBatch
  readonly settlement: Settlement | undefined
  /** Entries that are there and not settled. */
  readonly unsettled: PositionSet
  /** Entries that should be there, by the seal, and are not. */
  readonly missing: number
}

/**
 * Reads a segment beside its journal, within a window.
 * @param onBatch returns false to end the reading
 * @returns bytes that belong to no frame. Rejects with the system's errors and UnsafeError
 */
export async function readUnsettledBatches(
  path: string,
  onBatch: (batch: UnsettledBatch) => boolean | void,
): Promise<number> {
  // Before the segment: what is settled meanwhile is shown once more, and nothing is hidden.
  const settlements = readAcknowledgements(toAcknowledgementLogPath(path))
  const reader = new SegmentReader(path, SEGMENT_HEADER_BYTES)
  try {
    for (let read = await reader.next(); read !== undefined; read = await reader.next()) {
      const settlement = settlements.get(read.batchId)
      const settled = settlement?.settled ?? PositionSet.empty()
      const present = presentIn(read)
      const left = present.difference(settled)
      const missing =
        read.sealedCount === undefined
          ? 0
          : PositionSet.first(Math.min(read.sealedCount, MAX_POSITIONS)).difference(present).difference(settled).size
      if (left.size + missing > 0 && onBatch({ read, settlement, unsettled: left, missing }) === false) break
    }
    return reader.damagedBytes
  } finally {
    await reader.close()
  }
}

function presentIn({ runs: pieces }: ReadBatch): PositionSet {
  // A frame's numbers are checked by its CRC, but not by anybody's reason.
  return PositionSet.from(
    pieces.flatMap(({ first, count }) =>
      Array.from({ length: Math.max(0, Math.min(count, MAX_POSITIONS - first)) }, (_, at) => first + at),
    ),
  )
}

/** What an instance holds that is not settled. */
export interface UnsettledSummary {
  readonly batches: number
  readonly entries: number
  /** Bytes that are no frames. */
  readonly damagedBytes: number
  readonly missingEntries: number
  /** When the oldest entry was logged, in milliseconds since the epoch; undefined where there is none. */
  readonly oldestAtMs: number | undefined
  /** Files that could not be read, and why. */
  readonly problems: readonly string[]
}

/** Segment by segment. Never rejects. */
export async function summarizeUnsettled({ segments, isForeign }: FoundInstance): Promise<UnsettledSummary> {
  let batches = 0
  let entries = 0
  let damagedBytes = 0
  let missingEntries = 0
  let oldestAtMs: number | undefined
  const problems: string[] = []
  for (const segment of isForeign ? [] : segments) {
    try {
      damagedBytes += await readUnsettledBatches(segment.path, ({ read, unsettled: left, missing }) => {
        missingEntries += missing
        if (left.size === 0) return
        batches += 1
        entries += left.size
        oldestAtMs ??= loggedAt(read, segment)
      })
    } catch (error) {
      // Its writer has deleted it: all of it is settled.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        problems.push(error instanceof Error ? error.message : String(error))
    }
  }
  return { batches, entries, damagedBytes, missingEntries, oldestAtMs, problems }
}

const TIMESTAMP = /"timestamp":"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/
const HEAD_CHARS = 4_096

/** By the entry's own words, as far as the segment's beginning and end bear them out: an application may log any time. */
function loggedAt({ runs: pieces }: ReadBatch, { path, modifiedAtMs }: FoundFile): number {
  const [, text = ''] = TIMESTAMP.exec(pieces[0]?.text.toString('utf8', 0, HEAD_CHARS) ?? '') ?? []
  const said = Date.parse(text)
  const createdAtMs = Math.min(createdAt(path) ?? modifiedAtMs, modifiedAtMs)
  return Number.isNaN(said) ? createdAtMs : Math.min(Math.max(said, createdAtMs), modifiedAtMs)
}

function createdAt(path: string): number | undefined {
  const fd = openSegment(path)
  try {
    const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
    return readSync(fd, header) === header.length ? Number(header.readBigUInt64LE(8)) : undefined
  } finally {
    closeSync(fd)
  }
}
