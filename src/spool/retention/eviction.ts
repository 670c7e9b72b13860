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
  /** In the order of deletion. Called only if space is needed. */
  readonly candidates: () => readonly EvictionCandidate[]
}

/** The size limit is reached, and the files that this process may delete do not free enough space. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError'
}

/**
 * Makes space for a new segment. Deletes nothing if deleting all candidates would not be enough.
 * @returns the bytes that were freed
 * @throws SpoolFullError
 */
export function evict({ root, bytes, needBytes, maxBytes, candidates }: EvictionOptions): number {
  const excess = bytes + needBytes - maxBytes
  const left = excess > 0 ? [...candidates()] : []
  let freed = 0
  while (freed < excess) {
    // Checked again after a failed deletion.
    if (left.reduce((sum, candidate) => sum + candidate.bytes, freed) < excess) {
      throw new SpoolFullError(SPOOL_MESSAGES.limitReachedByOthers.text(maxBytes, root, bytes))
    }
    freed += left.shift()?.evict() ?? 0
  }
  return freed
}
