/** An immutable set of positions in a batch, which has at most 100 entries: 128 bits. */
const BYTES = 16
const MAX_POSITIONS = BYTES * 8

export class PositionSet {
  readonly bytes: Uint8Array
  #size: number | undefined

  /** @param bytes 16 bytes, which are copied */
  constructor(bytes: Uint8Array) {
    this.bytes = Uint8Array.from(bytes)
  }

  static empty(): PositionSet {
    return new PositionSet(new Uint8Array(BYTES))
  }

  /** The positions from 0 to `count - 1`. */
  static first(count: number): PositionSet {
    const bytes = new Uint8Array(BYTES)
    bytes.fill(0xff, 0, count >> 3)
    if ((count & 7) !== 0) bytes[count >> 3] = (1 << (count & 7)) - 1
    return new PositionSet(bytes)
  }

  static from(positions: Iterable<number>): PositionSet {
    const bytes = new Uint8Array(BYTES)
    for (const position of positions)
      if (position < MAX_POSITIONS) bytes[position >> 3] = (bytes[position >> 3] as number) | (1 << (position & 7))
    return new PositionSet(bytes)
  }

  get size(): number {
    if (this.#size !== undefined) return this.#size
    let size = 0
    for (const byte of this.bytes) for (let rest = byte; rest !== 0; rest &= rest - 1) size += 1
    return (this.#size = size)
  }

  has(position: number): boolean {
    return (((this.bytes[position >> 3] as number) >> (position & 7)) & 1) === 1
  }

  union(other: PositionSet): PositionSet {
    return new PositionSet(this.bytes.map((byte, at) => byte | (other.bytes[at] as number)))
  }

  intersection(other: PositionSet): PositionSet {
    return new PositionSet(this.bytes.map((byte, at) => byte & (other.bytes[at] as number)))
  }

  difference(other: PositionSet): PositionSet {
    return new PositionSet(this.bytes.map((byte, at) => byte & ~(other.bytes[at] as number)))
  }

  equals(other: PositionSet): boolean {
    return this.bytes.every((byte, at) => byte === other.bytes[at])
  }

  toArray(): number[] {
    return Array.from({ length: MAX_POSITIONS }, (_, position) => position).filter((position) => this.has(position))
  }
}
