/** Detects segments written by another format version. */
import { closeSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { isOwnFolder } from '../shared/safe-folders.js'
import { FORMAT_VERSION, INSTANCE_NAME, SEGMENT_HEADER_BYTES, isSegment, readVersion } from './disk-format.js'
import { openSegment } from './segment/segment.js'
import { listNames } from './spool-files.js'

/** The header of a segment, as far as the file has it. @throws the system's errors, UnsafeError */
export function readSegmentHeader(path: string): Buffer {
  const fd = openSegment(path)
  try {
    const header = Buffer.alloc(SEGMENT_HEADER_BYTES)
    return header.subarray(0, readSync(fd, header))
  } finally {
    closeSync(fd)
  }
}

/** Whether file descriptors or memory ran out. Such an error is not caused by the file. */
export function isResourceExhausted(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException
  return code === 'EMFILE' || code === 'ENFILE' || code === 'ENOMEM'
}

/**
 * Whether another format version wrote the folder. The first readable header decides, because one process wrote the
 * whole folder. @throws errors that `isResourceExhausted` recognizes
 */
export function hasForeignVersion(folder: string): boolean {
  for (const name of listNames(folder).filter(isSegment)) {
    try {
      const version = readVersion(readSegmentHeader(join(folder, name)))
      if (version !== undefined) return version !== FORMAT_VERSION
    } catch (error) {
      if (isResourceExhausted(error)) throw error
      // An unreadable segment is reported when it is read.
    }
  }
  return false
}

/** As `hasForeignVersion`, including the folders that the owner had claimed, recursively. */
export function hasForeignVersionBelow(folder: string): boolean {
  if (hasForeignVersion(folder)) return true
  return listNames(folder)
    .filter((name) => INSTANCE_NAME.test(name))
    .map((name) => join(folder, name))
    .some((one) => isOwnFolder(one) && hasForeignVersionBelow(one))
}
