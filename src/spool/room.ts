/** The bound of the whole root. */
import { unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { DEAD_LETTERS } from './format.js'
import { bytesBelow, filesBelow } from './usage.js'

export interface RoomOptions {
  readonly root: string
  readonly destination: string
  readonly needBytes: number
  readonly maxBytes: number
  /** Deletes the oldest segment of those that are ours to delete. False where there is none. */
  readonly dropOldest: () => boolean
}

/** `maxBytes` is reached, by what others hold. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError'
}

/**
 * Makes room for a new segment. What the service refused goes first: nobody waits for it, and it was told.
 * @returns bytes in the root
 * @throws NoRoomError
 */
export function makeRoom({ root, destination, needBytes, maxBytes, dropOldest }: RoomOptions): number {
  for (;;) {
    const bytes = bytesBelow(root)
    if (bytes + needBytes <= maxBytes) return bytes
    if (!dropDeadLetters(destination) && !dropOldest()) {
      throw new NoRoomError(`spool.maxBytes ${maxBytes} is reached by what other processes keep in ${root} (${bytes} bytes)`)
    }
  }
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
