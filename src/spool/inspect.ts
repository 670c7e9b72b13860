/** Reads a root for display: claims, changes and deletes nothing, and follows no links. */
import { join } from 'node:path'
import { checkNamedRoot, isOwnFolder } from '../shared/safe-folders.js'
import {
  DEAD_LETTERS,
  DESTINATION_NAME,
  INSTANCE_NAME,
  LEFT,
  OWNER,
  SEGMENT_HEADER_BYTES,
  isSegment,
} from './disk-format.js'
import { isLeaseExpired, isOwnerAlive, readOwner } from './instance/ownership.js'
import type { AgeLimit } from './retention/expiry.js'
import { readUnsettledBatches } from './segment/unsettled-batch.js'
import type { ReadBatch } from './segment/segment-reader.js'
import { hasForeignVersion, readSegmentHeader } from './format-version.js'
import { walkFiles, listNames } from './spool-files.js'
import type { FoundFile } from './spool-files.js'
import { toMessage } from '../shared/errors.js'

export interface FoundInstance {
  /** Name of the folder without its suffix. */
  readonly name: string
  readonly path: string
  /** Name of the destination's folder. */
  readonly destination: string
  /**
   * `running`: its process is running, or is not known to have exited; `killed`: its process exited without closing it;
   * `closed`: its process closed it; `claimed`: claimed by `claimedBy`.
   */
  readonly state: 'running' | 'killed' | 'closed' | 'claimed'
  /** Whether it may be claimed. */
  readonly isFree: boolean
  /** Process id of the writer; undefined if `owner` is unreadable. */
  readonly pid: number | undefined
  /** Milliseconds since the writer last renewed its lease; undefined without `owner`. */
  readonly leaseAgeMs: number | undefined
  readonly claimedBy: string | undefined
  /** Oldest first. */
  readonly segments: readonly FoundFile[]
  /** Size of its segments and acknowledgement logs, without claimed folders. */
  readonly bytes: number
  /** Whether another format version wrote the folder, which is then not read. */
  readonly isForeign: boolean
}

export interface FoundDestination {
  readonly name: string
  readonly path: string
  /** Oldest first; each is followed by the instances that it claimed. */
  readonly instances: readonly FoundInstance[]
  /** Files of dead letters. */
  readonly deadLetters: readonly FoundFile[]
}

export type InspectOptions = Omit<AgeLimit, 'maxAgeMs'>

/**
 * Lists the content of a root by age. Skips files deleted in the meantime.
 * @throws UnsafeError if the root is a link, not a folder, or belongs to another user; the system's error if there is
 * none
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

/** The instances in a folder, each followed by those that it claimed. @param claimer whose folder it is; default: the destination's */
function instancesIn(
  path: string,
  destination: string,
  options: InspectOptions,
  claimer?: FoundInstance,
): FoundInstance[] {
  return listNames(path).flatMap((folder) => {
    const [, name, suffix] = INSTANCE_NAME.exec(folder) ?? []
    const at = join(path, folder)
    if (name === undefined || (claimer ?? suffix) === undefined || !isFolder(at)) return []
    const { state, isFree } =
      claimer === undefined ? stateOf(at, suffix, options) : { state: 'claimed' as const, isFree: claimer.isFree }
    const found = { ...look(at, name, destination, options), state, isFree, claimedBy: claimer?.name }
    return [found, ...instancesIn(at, destination, options, found)]
  })
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
    segments: files.filter((file) => isSegment(file.name)),
    bytes: files.filter((file) => file.name !== OWNER).reduce((sum, file) => sum + file.bytes, 0),
    isForeign: hasForeignVersion(path),
  }
}

function stateOf(
  path: string,
  suffix: string | undefined,
  { machine, wallNowMs }: InspectOptions,
): Pick<FoundInstance, 'state' | 'isFree'> {
  if (suffix === LEFT) return { state: 'closed', isFree: true }
  try {
    // Uses this machine's clock: reading the file system's clock requires writing a file.
    const isFree = !(isOwnerAlive(path, machine) ?? !isLeaseExpired(path, wallNowMs))
    return { state: isFree ? 'killed' : 'running', isFree }
  } catch {
    return { state: 'killed', isFree: false } // it was claimed or closed meanwhile
  }
}

function filesIn(folder: string, isWanted: (name: string) => boolean): FoundFile[] {
  return isFolder(folder) ? [...walkFiles(folder, 0)].filter(({ name }) => isWanted(name)) : []
}

function isFolder(path: string): boolean {
  try {
    return isOwnFolder(path)
  } catch {
    return false // it cannot be read, so it contains none of this user's entries
  }
}

export interface UnsettledSummary {
  readonly batches: number
  readonly entries: number
  /** Bytes that belong to no frame. */
  readonly damagedBytes: number
  readonly missingEntries: number
  /** When the oldest entry was logged, in milliseconds since the epoch; undefined if there is none. */
  readonly oldestAtMs: number | undefined
  /** Read errors. */
  readonly problems: readonly string[]
}

/** Reads the segments one by one. Never rejects. */
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
      // The writer deleted the file, because all its entries are settled.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') problems.push(toMessage(error))
    }
  }
  return { batches, entries, damagedBytes, missingEntries, oldestAtMs, problems }
}

const TIMESTAMP = /"timestamp":"(\d{4}-\d\d-\d\dT[\d:.]+Z)"/
const HEAD_CHARS = 4_096

/** The entry's timestamp, limited to the time in which the segment was written: an application may log any timestamp. */
function loggedAt({ runs }: ReadBatch, { path, modifiedAtMs }: FoundFile): number {
  const [, text = ''] = TIMESTAMP.exec(runs[0]?.text.toString('utf8', 0, HEAD_CHARS) ?? '') ?? []
  const parsedMs = Date.parse(text)
  const createdAtMs = Math.min(createdAt(path) ?? modifiedAtMs, modifiedAtMs)
  return Number.isNaN(parsedMs) ? createdAtMs : Math.min(Math.max(parsedMs, createdAtMs), modifiedAtMs)
}

function createdAt(path: string): number | undefined {
  const header = readSegmentHeader(path)
  return header.length === SEGMENT_HEADER_BYTES ? Number(header.readBigUInt64LE(8)) : undefined
}
