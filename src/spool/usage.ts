/** What a root holds: bytes, and what is too old. */
import { lstatSync, readdirSync } from 'node:fs'
import type { Stats } from 'node:fs'
import { join } from 'node:path'
import { DESTINATION_NAME } from './format.js'
import { MAX_SEGMENT_BYTES } from './segment.js'

/** Unit of `blocks` in stat(2), whatever the file system's own is. */
const BLOCK_BYTES = 512

/** A file under the root. Links are not followed. */
export interface FoundFile {
  readonly path: string
  readonly name: string
  readonly bytes: number
  readonly modifiedAtMs: number
}

/** Root, destination, instance, claimed, claimed instance; and once more where a claimer died. */
const MAX_DEPTH = 8

/** All files below a folder. What vanishes meanwhile, as it does with others at work, is not there. @throws as `namesIn` */
export function* filesBelow(folder: string, depth = MAX_DEPTH): Generator<FoundFile> {
  for (const name of namesIn(folder)) {
    const path = join(folder, name)
    const stats = look(path)
    if (stats === undefined) continue
    if (stats.isDirectory() && depth > 0) yield* filesBelow(path, depth - 1)
    else if (stats.isFile()) yield { path, name, bytes: diskBytes(stats), modifiedAtMs: stats.mtimeMs }
  }
}

/** Gone, or not ours: either way nothing of ours is there. */
const NOTHING: readonly unknown[] = ['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM']

/** Names in order; none where there is no such folder, or it must not be read. @throws the system's other errors: what is there is not known for now */
export function namesIn(folder: string): string[] {
  return orNothing(() => readdirSync(folder).toSorted()) ?? []
}

function look(path: string): Stats | undefined {
  return orNothing(() => lstatSync(path, { throwIfNoEntry: false }))
}

function orNothing<Found>(find: () => Found): Found | undefined {
  try {
    return find()
  } catch (error) {
    if (NOTHING.includes((error as NodeJS.ErrnoException).code)) return undefined
    throw error
  }
}

/** Of one file; 0 where there is none. */
export function bytesOf(path: string): number {
  const stats = look(path)
  return stats === undefined ? 0 : diskBytes(stats)
}

/** A file longer than any that is written here may be sparse: it counts with what it takes on the disk (`st_blocks`). */
function diskBytes({ size, blocks }: Stats): number {
  return size > MAX_SEGMENT_BYTES ? Math.min(size, blocks * BLOCK_BYTES) : size
}

/** Of all destinations: what else is in the root, which may be any folder, is not looked at. */
export function* spoolFiles(root: string): Generator<FoundFile> {
  for (const name of namesIn(root)) if (DESTINATION_NAME.test(name)) yield* filesBelow(join(root, name), MAX_DEPTH - 1)
}
