/** What is deleted for space, and the error if that does not suffice. `SpoolLimits` enforces the limit. */

/** Files that this process may delete. */
export interface EvictionCandidate {
  readonly bytes: number
  /** Never throws. @returns the bytes that are or will be freed; 0 if the deletion failed */
  readonly evict: () => number
}

/** The size limit is reached, and the files that this process may delete do not free enough space. */
export class SpoolFullError extends Error {
  override readonly name = 'SpoolFullError'
}
