/** Files of a root, with their sizes and times. */
import { lstatSync, readdirSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { DESTINATION_NAME } from './disk-format.js'
import { MAX_SEGMENT_BYTES } from './segment/segment.js'

/** Unit of `blocks` in stat(2), independent of the file system's block size. */
const BLOCK_BYTES = 512

/** A file under the root. Links are not followed. */
export interface FoundFile {
  readonly path: string
  readonly name: string
  readonly bytes: number
  readonly modifiedAtMs: number
}

/** Root, destination, instance, claimed instance, and one more for each claimer that ended before it moved the folders up. */
const MAX_DEPTH = 8

/** All files below a folder. Skips files that other processes delete during the walk. @throws as `namesIn` */
export function* walkFiles(folder: string, depth = MAX_DEPTH): Generator<FoundFile> {
  for (const name of listNames(folder)) {
    const path = join(folder, name)
    const stats = look(path)
    if (stats === undefined) continue
    if (stats.isDirectory() && depth > 0) yield* walkFiles(path, depth - 1)
    else if (stats.isFile()) yield { path, name, bytes: diskBytes(stats), modifiedAtMs: stats.mtimeMs }
  }
}

/** The file was deleted or belongs to another user, so it is not a file of this spool. */
const IGNORED_CODES: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']

/** Sorted names; none if the folder does not exist or access is denied. @throws the system's other errors */
export function listNames(folder: string): string[] {
  return orNothing(() => readdirSync(folder).toSorted()) ?? []
}

function look(path: string): Stats | undefined {
  return orNothing(() => lstatSync(path, { throwIfNoEntry: false }))
}

function orNothing<Found>(find: () => Found): Found | undefined {
  try {
    return find()
  } catch (error) {
    if (IGNORED_CODES.includes((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
}

/** Size of one file on disk; 0 if it does not exist. */
export function readSizeOnDisk(path: string): number {
  const stats = look(path)
  return stats === undefined ? 0 : diskBytes(stats)
}

/** A file longer than any segment may be sparse, so only its allocated blocks (`st_blocks`) count. */
function diskBytes({ size, blocks }: Stats): number {
  return size > MAX_SEGMENT_BYTES ? Math.min(size, blocks * BLOCK_BYTES) : size
}

/** Files of all destinations. The root may be any folder: other files in it are ignored. */
export function* walkSpoolFiles(root: string): Generator<FoundFile> {
  for (const name of listNames(root)) if (DESTINATION_NAME.test(name)) yield* walkFiles(join(root, name), MAX_DEPTH - 1)
}
