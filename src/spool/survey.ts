/** Detects segments that another version of the format wrote. */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnFolder } from '../shared/safe-folders.js'
import { CLAIMED, FORMAT_VERSION, SEGMENT_HEADER_BYTES, isSegment, versionIn } from './format.js'
import { openSegment } from './segment.js'
import { namesIn } from './usage.js'

/** @throws the system's errors, UnsafeError */
function versionOf(path: string): number | undefined {
  const fd = openSegment(path)
  try {
    const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
    return versionIn(header.subarray(0, readSync(fd, header)))
  } finally {
    closeSync(fd)
  }
}

/** Whether file descriptors or memory ran out. Such an error does not concern the file itself. */
export function isOutOfFiles(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM'
}

/** Whether another format version wrote the folder. One process writes a folder, so the first readable header decides. @throws errors that `isOutOfFiles` recognises */
export function hasForeignSegment(folder: string): boolean {
  for (const name of namesIn(folder).filter(isSegment)) {
    try {
      const version = versionOf(join(folder, name))
      if (version !== undefined) return version !== FORMAT_VERSION
    } catch (error) {
      if (isOutOfFiles(error)) throw error
      // An unreadable segment is reported when it is read.
    }
  }
  return false
}

/** As `hasForeignSegment`, including the folders that the owner had claimed, recursively. */
export function hasForeignSegmentBelow(folder: string): boolean {
  if (hasForeignSegment(folder)) return true
  const claimed = join(folder, CLAIMED)
  return namesIn(claimed).map((name) => join(claimed, name)).some((one) => isOwnFolder(one) && hasForeignSegmentBelow(one))
}
