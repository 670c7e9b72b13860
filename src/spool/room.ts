/** The bound of the whole root. */

/** What is ours to delete. */
export interface Removable {
  readonly bytes: number
  /** Never throws. @returns the bytes that are free, or will be: 0 where it stays */
  readonly remove: () => number
}

export interface RoomOptions {
  readonly root: string
  /** In the root. */
  readonly bytes: number
  readonly needBytes: number
  readonly maxBytes: number
  /** In the order in which they are removed. */
  readonly removable: () => readonly Removable[]
}

/** `maxBytes` is reached, by what others hold. */
export class NoRoomError extends Error {
  override readonly name = 'NoRoomError'
}

/**
 * Makes room for a new segment. Where all that is ours would not be enough, nothing goes.
 * @returns bytes that are free now
 * @throws NoRoomError
 */
export function makeRoom({ root, bytes, needBytes, maxBytes, removable }: RoomOptions): number {
  const excess = bytes + needBytes - maxBytes
  const all = excess > 0 ? removable() : []
  let freed = 0
  for (let at = 0; freed < excess;) {
    let to = at
    // Looked at again where a deletion failed.
    for (let sum = freed; sum < excess; to += 1) {
      const next = all[to]
      if (next === undefined) throw new NoRoomError(`spool.maxBytes ${maxBytes} is reached by what other processes keep in ${root} (${bytes} bytes)`)
      sum += next.bytes
    }
    for (; at < to; at += 1) freed += (all[at] as Removable).remove()
  }
  return freed
}
