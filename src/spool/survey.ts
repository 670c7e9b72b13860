/** Whether another version of the format wrote a segment. */
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

/** Whether no file can be opened for now, for want of file descriptors or memory: that says nothing of the file. */
export function isOutOfFiles(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM'
}

/** Whether another version of the format wrote there. One process writes in a folder: its first header that can be read says it. @throws as `isOutOfFiles` knows */
export function hasForeignSegment(folder: string): boolean {
  for (const name of namesIn(folder).filter(isSegment)) {
    try {
      const version = versionOf(join(folder, name))
      if (version !== undefined) return version !== FORMAT_VERSION
    } catch (error) {
      if (isOutOfFiles(error)) throw error
      // What cannot be read is found when it is to be read.
    }
  }
  return false
}

/** The same, also in what its owner had claimed, and in what those had. */
export function hasForeignSegmentBelow(folder: string): boolean {
  if (hasForeignSegment(folder)) return true
  const claimed = join(folder, CLAIMED)
  return namesIn(claimed).map((name) => join(claimed, name)).some((one) => isOwnFolder(one) && hasForeignSegmentBelow(one))
}
