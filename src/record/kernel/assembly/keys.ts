/** Looks up keys, and remembers those of a record. */
import { BREADCRUMB_KEYS, INNER_KEYS, KEYS, OPTION, PARAMS, SEEN } from '../../memory'

/** A slot of a table: hash, value, position of the text, and its length. A length of -1 marks a free slot. */
const SLOT_BITS: usize = 4
const KEY_SLOTS: usize = 1024
const PARAM_SLOTS: usize = 4096
const MAX_NAME_CHARS: usize = 128
const SEEN_SLOTS: usize = 4096
export const UNKNOWN: i32 = -1

/** The number of the record, which marks its keys in the table. */
let record: u32 = 0

function tail(at: usize, bytes: usize): u64 {
  return load<u64>(at) & (((<u64>1) << (<u64>(bytes << 3))) - 1)
}

/** Seeded per process, so logged data cannot be made of keys with one hash. */
export function hashOf(at: usize, bytes: usize): u32 {
  let hash: u64 = load<u64>(OPTION) ^ (<u64>bytes * 0x9e3779b97f4a7c15)
  let from = at
  let left = bytes
  while (left >= 8) {
    hash = mix(hash ^ load<u64>(from))
    from += 8
    left -= 8
  }
  if (left > 0) hash = mix(hash ^ tail(from, left))
  return <u32>(hash >> 32)
}

function mix(value: u64): u64 {
  const product = (value ^ (value >> 32)) * 0xbf58476d1ce4e5b9
  return (product ^ (product >> 29)) * 0x94d049bb133111eb
}

export function isEqual(one: usize, other: usize, bytes: usize): bool {
  let i: usize = 0
  for (; i + 8 <= bytes; i += 8) if (load<u64>(one + i) !== load<u64>(other + i)) return false
  return i === bytes || tail(one + i, bytes - i) === tail(other + i, bytes - i)
}

function find(table: usize, at: usize, bytes: usize, hash: u32): i32 {
  let i: usize = hash
  while (true) {
    const slot = table + ((i & (KEY_SLOTS - 1)) << SLOT_BITS)
    i++
    const length = load<i32>(slot, 12)
    if (length < 0) return UNKNOWN
    if (load<u32>(slot) === hash && <usize>length === bytes && isEqual(load<u32>(slot, 8), at, bytes))
      return load<i32>(slot, 4)
  }
}

/** How the key of a record is treated; `UNKNOWN` for other keys. Sets `keyHash`. */
export function kindOf(at: usize, bytes: usize): i32 {
  keyHash = hashOf(at, bytes)
  return find(isForBreadcrumb ? BREADCRUMB_KEYS : KEYS, at, bytes, keyHash)
}
let keyHash: u32 = 0
export let isForBreadcrumb: bool = false
export function setForBreadcrumb(value: bool): void {
  isForBreadcrumb = value
}

/** What the key means within an object, as bits; 0 for other keys. */
export function innerKind(at: usize, bytes: usize): i32 {
  const kind = find(INNER_KEYS, at, bytes, hashOf(at, bytes))
  return kind === UNKNOWN ? 0 : kind
}

export function beginRecord(): void {
  record++
  if (record !== 0) return
  memory.fill(SEEN, 0, SEEN_SLOTS << SLOT_BITS)
  record = 1
}

/** Returns false if the record already has the key, whose hash is `keyHash`. */
export function addKey(at: usize, bytes: usize): bool {
  let i: usize = keyHash
  while (true) {
    const slot = SEEN + ((i & (SEEN_SLOTS - 1)) << SLOT_BITS)
    i++
    if (load<u32>(slot) !== record) {
      store<u32>(slot, record)
      store<u32>(slot, keyHash, 4)
      store<u32>(slot, <u32>at, 8)
      store<u32>(slot, <u32>bytes, 12)
      return true
    }
    if (load<u32>(slot, 4) === keyHash && load<u32>(slot, 12) === <u32>bytes && isEqual(load<u32>(slot, 8), at, bytes))
      return false
  }
}

function isOfName(c: u8): bool {
  const l = c | 0x20
  return (
    (l >= 0x61 && l <= 0x7a) ||
    (c >= 0x30 && c <= 0x39) ||
    c === 0x5f ||
    c === 0x2e ||
    c === 0x7e ||
    c === 0x24 ||
    c === 0x2a ||
    c === 0x25 ||
    c === 0x5b ||
    c === 0x5d ||
    c === 0x2d
  )
}

/** Whether the equals sign may follow a parameter's name whose value is redacted. */
export function mayFollowParam(equals: usize, least: usize): bool {
  // A longer name is not read again for each sign in it.
  const floor = max(least, equals - MAX_NAME_CHARS)
  let from = equals
  while (from > floor && isOfName(load<u8>(from - 1))) from--
  if (from === equals) return false
  // Only the last characters of a longer name count.
  if (equals - from >= MAX_NAME_CHARS) return true
  // The first letter may belong to an escape.
  return (from > least && load<u8>(from - 1) === 0x5c) || mayBeParam(from, equals - from)
}

/** Position in the table of parameters: case, hyphens and underscores do not count. */
export function paramSlot(from: usize, bytes: usize): usize {
  let hash: u32 = 0x811c9dc5
  for (let at = from; at < from + bytes; at++) {
    let c = load<u8>(at)
    if (c === 0x2d || c === 0x5f) continue
    if (c >= 0x41 && c <= 0x5a) c |= 0x20
    hash = (hash ^ c) * 0x01000193
  }
  return PARAMS + <usize>(hash & (PARAM_SLOTS - 1))
}

/** Whether the name may be that of a parameter whose value is redacted. */
function mayBeParam(from: usize, bytes: usize): bool {
  // A part of the name may be listed, or a character be encoded or escaped.
  for (let at = from; at < from + bytes; at++) {
    const c = load<u8>(at)
    if (c === 0x25 || c === 0x2e || c === 0x5b || c === 0x5d || c === 0x5c || c >= 0x80) return true
  }
  return load<u8>(paramSlot(from, bytes)) !== 0
}
