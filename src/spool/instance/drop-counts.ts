/** Counts of unreported drops, in the instance's folder: the process that takes the folder over reports them. */
import { closeSync, constants, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DROP_REASONS } from '../../diagnostics/account.js'
import type { UnreportedDrops } from '../../diagnostics/account.js'
import { openOwn, writeAll } from '../../shared/safe-files.js'
import { DROP_COUNTS } from '../disk-format.js'

/** Larger than the counts of all reasons. */
const FILE_BYTES = 512

/** @param drops undefined deletes the file @throws the system's errors, UnsafeError */
export function writeDropCounts(folder: string, drops: UnreportedDrops | undefined): void {
  if (drops === undefined) return rmSync(join(folder, DROP_COUNTS), { force: true })
  const fd = openOwn(join(folder, DROP_COUNTS), constants.O_WRONLY | constants.O_CREAT)
  try {
    // Overwritten in place with a constant length: after a kill the file has either the old or the new counts, and
    // writing needs no space on a full disk.
    writeAll(fd, Buffer.from(JSON.stringify(drops).padEnd(FILE_BYTES)))
  } finally {
    closeSync(fd)
  }
}

/**
 * Passes the counts stored in a claimed folder to `take`, then deletes them. Unreadable counts are lost.
 * @param take must have saved the counts when it returns. If the process is killed right after it, they are reported twice
 * @throws the system's errors, UnsafeError
 */
export function takeDropCounts(folder: string, take: (drops: UnreportedDrops) => void): void {
  const drops = readDrops(join(folder, DROP_COUNTS))
  if (drops !== undefined) take(drops)
  writeDropCounts(folder, undefined)
}

function readDrops(path: string): UnreportedDrops | undefined {
  try {
    const fd = openOwn(path, constants.O_RDONLY)
    try {
      const bytes = Buffer.alloc(FILE_BYTES)
      return checked(JSON.parse(bytes.toString('utf8', 0, readSync(fd, bytes))))
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Validates the file's content. */
function checked(value: unknown): UnreportedDrops | undefined {
  if (typeof value !== 'object' || value === null || !('dropped' in value) || !('lastAtMs' in value)) return undefined
  const { dropped, lastAtMs } = value
  if (typeof dropped !== 'object' || dropped === null || !isCount(lastAtMs)) return undefined
  const counts = DROP_REASONS.map((reason) => [reason, (dropped as Record<string, unknown>)[reason]] as const).filter(
    ([, count]) => isCount(count),
  )
  return counts.length === 0 ? undefined : { dropped: Object.fromEntries(counts), lastAtMs }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0
}
