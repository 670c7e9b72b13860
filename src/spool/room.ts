/** Enforces the size limit of the whole root. */

/** Files that this process may delete. */
export interface Removable {
  readonly bytes: number
  /** Never throws. @returns the bytes that are or will be freed; 0 if the deletion failed */
  readonly remove: () => number
}

export interface RoomOptions {
  readonly root: string
  /** Current size of the root. */
  readonly bytes: number
  readonly needBytes: number
  readonly maxBytes: number
  /** In the order of removal. */
  readonly removable: () => readonly Removable[]
}

/** Files of other processes take up `maxBytes`. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError'
}

/**
 * Makes room for a new segment. Deletes nothing if deleting all `removable` files would not be enough.
 * @returns the bytes that were freed
 * @throws NoRoomError
 */
export function makeRoom({ root, bytes, needBytes, maxBytes, removable }: RoomOptions): number {
  const excess = bytes + needBytes - maxBytes
  const all = excess > 0 ? removable() : []
  let freed = 0
  for (let at = 0; freed < excess;) {
    let to = at
    // Checked again after a failed deletion.
    for (let sum = freed; sum < excess; to += 1) {
      const next = all[to]
      if (next === undefined) throw new NoRoomError(`spool.maxBytes ${maxBytes} is reached by what other processes keep in ${root} (${bytes} bytes)`)
      sum += next.bytes
    }
    for (; at < to; at += 1) freed += (all[at] as Removable).remove()
  }
  return freed
}
