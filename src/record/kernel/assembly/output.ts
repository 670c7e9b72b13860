/** Writes entries. */
import { ANSWERS, MEMBERS, OPTION, OUTPUT } from '../../memory'

export let at: usize = OUTPUT
export function setAt(position: usize): void {
  at = position
}

/** Copies up to 15 bytes more than the range, which the next text overwrites. */
export function copy(from: usize, to: usize): void {
  const bytes = to - from
  if (bytes > 256) memory.copy(at, from, bytes)
  else for (let i: usize = 0; i < bytes; i += 16) v128.store(at + i, v128.load(from + i))
  at += bytes
}

/** Writes ASCII text. AssemblyScript stores it as UTF-16. */
export function put(text: string): void {
  const from = changetype<usize>(text)
  const chars = <usize>text.length
  for (let i: usize = 0; i < chars; i += 8) {
    const units = v128.load(from + (i << 1))
    store<u64>(at + i, i64x2.extract_lane(i8x16.narrow_i16x8_u(units, units), 0))
  }
  at += chars
}

export function putByte(byte: u8): void {
  store<u8>(at, byte)
  at++
}

let isFirst = true
export function beginMembers(): void {
  isFirst = true
}
export function hasMembers(): bool {
  return !isFirst
}
/** Writes a comma, unless the next member is the first. */
export function separate(): void {
  if (!isFirst) putByte(0x2c)
  isFirst = false
}

export function putMember(name: string, value: Range): void {
  if (value.isEmpty) return
  separate()
  put(name)
  value.put()
}

/** A range of text; empty if `end` is 0. */
export class Range {
  start: usize = 0
  end: usize = 0

  get isEmpty(): bool {
    return this.end === 0
  }

  get isEmptyText(): bool {
    return this.end === this.start + 2
  }

  set(start: usize, end: usize): void {
    this.start = start
    this.end = end
  }

  clear(): void {
    this.end = 0
  }

  storeAt(place: usize): void {
    store<u32>(place, <u32>this.start)
    store<u32>(place, <u32>this.end, 4)
  }

  put(): void {
    copy(this.start, this.end)
  }

  equals(other: Range): bool {
    const bytes = this.end - this.start
    return bytes === other.end - other.start && memory.compare(this.start, other.start, bytes) === 0
  }
}

export function hasOption(option: usize): bool {
  return load<u32>(OPTION + option, 4) !== 0
}

export function putOption(option: usize): void {
  if (hasOption(option)) copy(load<u32>(OPTION + option), load<u32>(OPTION + option, 4))
}

/** Members of an object that are copied, in pieces of adjacent members. */
export class Members {
  count: usize = 0
  private place: usize

  /** @param slot 0 to 7: each has room for 1,024 pieces */
  constructor(slot: usize) {
    this.place = MEMBERS + slot * 0x2000
  }

  add(start: usize, end: usize): void {
    const last = this.place + (this.count << 3)
    // Adjacent members are separated by a comma.
    if (this.count > 0 && load<u32>(last - 4) + 1 === <u32>start) {
      store<u32>(last - 4, <u32>end)
      return
    }
    store<u32>(last, <u32>start)
    store<u32>(last, <u32>end, 4)
    this.count++
  }

  put(): void {
    for (let i: usize = 0; i < this.count; i++) {
      if (i > 0) putByte(0x2c)
      this.putOne(i)
    }
  }

  putOne(i: usize): void {
    const pair = this.place + (i << 3)
    copy(load<u32>(pair), load<u32>(pair, 4))
  }
}

export let answersAt: usize = ANSWERS
export function resetAnswers(): void {
  answersAt = ANSWERS
}
export function takeAnswer(bytes: usize): usize {
  const from = answersAt
  answersAt += bytes
  return from
}

let resumedAt: usize = 0
/** Writes text that is not a part of the entry, until `endText`, behind the answers. Returns its position. */
export function beginText(): usize {
  resumedAt = at
  at = answersAt
  return at
}
export function endText(): usize {
  answersAt = at
  at = resumedAt
  return answersAt
}
