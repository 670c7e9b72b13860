/** Enforces the size limit of the whole root. */
import { SPOOL_MESSAGES } from '../../diagnostics/messages.js'

/** Files that this process may delete. */
export interface EvictionCandidate {
  readonly bytes: number
  /** Never throws. @returns the bytes that are or will be freed; 0 if the deletion failed */
  readonly evict: () => number
}

export interface EvictionOptions {
  readonly root: string
  /** Current size of the root. */
  readonly bytes: number
  readonly needBytes: number
  readonly maxBytes: number
  /** In the order of removal. */
  readonly removable: () => readonly EvictionCandidate[]
}

/** Files of other processes take up `maxBytes`. */
export class SpoolFullError extends Error {
  override readonly name = 'NoRoomError'
}

/**
 * Makes room for a new segment. Deletes nothing if deleting all `removable` files would not be enough.
 * @returns the bytes that were freed
 * @throws NoRoomError
 */
export function evict({ root, bytes, needBytes, maxBytes, removable }: EvictionOptions): number {
  const excess = bytes + needBytes - maxBytes
  const all = excess > 0 ? removable() : []
  let freed = 0
  for (let at = 0; freed < excess;) {
    let to = at
    // Checked again after a failed deletion.
    for (let sum = freed; sum < excess; to += 1) {
      const next = all[to]
      if (next === undefined) throw new SpoolFullError(SPOOL_MESSAGES.limitReachedByOthers.text(maxBytes, root, bytes))
      sum += next.bytes
    }
    for (; at < to; at += 1) freed += (all[at] as EvictionCandidate).evict()
  }
  return freed
}
