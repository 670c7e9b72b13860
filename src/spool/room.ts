/** The bound of the whole root. */
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DEAD_LETTERS, journalOf } from './format.js'
import { bytesBelow, bytesOf, filesBelow } from './usage.js'

export interface RoomOptions {
  readonly root: string
  readonly destination: string
  readonly needBytes: number
  readonly maxBytes: number
  /** Paths of the segments that are ours to delete. */
  readonly ours: () => readonly string[]
  /** Deletes the oldest of them. False where there is none. */
  readonly dropOldest: () => boolean
}

/** `maxBytes` is reached, by what others hold. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError'
}

/**
 * Makes room for a new segment. What the service refused goes first: nobody waits for it, and it was told. Where all that
 * is ours would not be enough, nothing goes.
 * @returns bytes in the root
 * @throws NoRoomError
 */
export function makeRoom({ root, destination, needBytes, maxBytes, ours, dropOldest }: RoomOptions): number {
  for (;;) {
    const bytes = bytesBelow(root)
    if (bytes + needBytes <= maxBytes) return bytes
    // Looked at each time: others write meanwhile, and a deletion may fail.
    const canGo = bytes - bytesOfOurs(destination, ours()) + needBytes <= maxBytes
    if (!canGo || (!dropDeadLetters(destination) && !dropOldest())) {
      throw new NoRoomError(`spool.maxBytes ${maxBytes} is reached by what other processes keep in ${root} (${bytes} bytes)`)
    }
  }
}

function bytesOfOurs(destination: string, segments: readonly string[]): number {
  const inSegments = segments.reduce((sum, path) => sum + bytesOf(path) + bytesOf(journalOf(path)), 0)
  return inSegments + bytesBelow(join(destination, DEAD_LETTERS))
}

function dropDeadLetters(destination: string): boolean {
  const [oldest] = [...filesBelow(join(destination, DEAD_LETTERS))].toSorted((a, b) => a.modifiedAtMs - b.modifiedAtMs)
  if (oldest === undefined) return false
  try {
    unlinkSync(oldest.path)
    return true
  } catch {
    return false // then the oldest segment goes
  }
}
