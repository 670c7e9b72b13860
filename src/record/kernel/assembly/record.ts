/** Reads the members of a record: mapped members into fields, all others as text for the metadata. */
import { hasAnswer, takeText } from './ask'
import { readError } from './error'
import { UNKNOWN, addKey, beginRecord, isForBreadcrumb, kindOf } from './keys'
import { Kind, Question, INDEX, LEVELS, OPTION } from '../../memory'
import { Members, Range, resetAnswers } from './output'
import * as request from './request'
import { readReq, readRes, reset as resetRequest } from './request'
import { textEnd } from './scan'
import { hasByte, hasEscapeIn } from './text'
import { readTime } from './time'
import {
  MAX_KEYS,
  QUOTE,
  afterMember,
  found,
  isClosed,
  isInexactInteger,
  isOpening,
  isPlainInteger,
  keyEnd,
  openObject,
  setNext,
  valueEnd,
} from './values'

/** Fields whose value is a string or a plain integer, in the order of the entry; the trace's come last. */
export const SLOTS: i32 = 10
export namespace Slot {
  export const USER: i32 = 0
  export const SESSION: i32 = 1
  export const RELEASE: i32 = 2
  export const REQUEST: i32 = 3
  export const ACTION: i32 = 4
  export const SOURCE: i32 = 5
  export const FINGERPRINT: i32 = 6
  export const TRACE: i32 = 7
  export const SPAN: i32 = 8
  export const PARENT: i32 = 9
}

/** As in `MAY_HOLD_HTTP_MESSAGE`. */
const MAY_HOLD_EXCHANGE: i32 = 1
const LEVEL_BYTES: usize = 64
const MAX_LEVEL_BYTES: usize = 40

export const message = new Range()
export const time = new Range()
export const duration = new Range()
export const name = new Range()
export const service = new Range()
export const environment = new Range()
export const version = new Range()
export const otherId = new Range()
const otherIdMember = new Range()
export const user = new Range()
export const userRest = new Range()
export const tags = new Range()
export const category = new Range()
const slots: StaticArray<Range> = createSlots()
export const metadata = new Members(0)
/** Position of the level in the table; 0 without one. */
export let level: usize = 0
export let hasReq = false
export let hasRes = false
export let hasError = false
let usedSlots = false

function createSlots(): StaticArray<Range> {
  const all = new StaticArray<Range>(SLOTS)
  for (let i = 0; i < SLOTS; i++) all[i] = new Range()
  return all
}

export function slot(i: i32): Range {
  return unchecked(slots[i])
}

export function hasSlots(): bool {
  return usedSlots
}

function useSlot(i: i32, start: usize, end: usize): void {
  slot(i).set(start, end)
  usedSlots = true
}

function reset(): void {
  beginRecord()
  resetAnswers()
  message.clear()
  time.clear()
  duration.clear()
  name.clear()
  service.clear()
  environment.clear()
  version.clear()
  otherId.clear()
  user.clear()
  userRest.clear()
  tags.clear()
  category.clear()
  metadata.count = 0
  level = 0
  if (usedSlots) for (let i = 0; i < SLOTS; i++) slot(i).clear()
  if (hasReq || hasRes) resetRequest()
  usedSlots = hasReq = hasRes = hasError = false
}

/** Reads a whole line. Returns false if it is declined. */
export function readRecord(from: usize): bool {
  reset()
  setNext(INDEX)
  let i = openObject(from)
  if (i === 0) return false
  let keys = 0
  while (true) {
    const at = i
    const value = keyEnd(i)
    if (value === 0 || ++keys > MAX_KEYS) return false
    const kind = kindOf(at + 1, value - at - 3)
    if (kind === Kind.ERROR || kind === Kind.REQ || kind === Kind.RES) {
      i = readObject(kind, value)
      if (i === 0) return false
    } else {
      if (kind === Kind.DECLINED || (kind === UNKNOWN && isForReference(at + 1, value - 2))) return false
      i = valueEnd(value)
      if (i === 0) return false
      const isContainer = isOpening(load<u8>(value))
      // The last of duplicate keys wins.
      if ((kind === UNKNOWN || kind === Kind.HOLDER || kind >= Kind.CATEGORY) && !addKey(at + 1, value - at - 3))
        return false
      if (kind === UNKNOWN || kind === Kind.HOLDER || (kind === Kind.CATEGORY && isContainer)) {
        if (isContainer && !isCopied(kind, value, i)) return false
        metadata.add(at, i)
      } else if (!readMember(kind, at, value, i)) return false
    }
    i = afterMember(i)
    if (i === 0) return false
    if (isClosed) break
  }
  return i === textEnd
}

/** Whether a container is copied as it is. */
function isCopied(kind: i32, value: usize, end: usize): bool {
  if (kind === Kind.HOLDER) return false
  return (found & MAY_HOLD_EXCHANGE) === 0 || hasAnswer(Question.EXCHANGE, value, end)
}

/** An escape may hide another key; a name with this prefix may be a header or a body. */
function isForReference(from: usize, to: usize): bool {
  // http.re…
  return (
    hasEscapeIn(from, to) || (to - from >= 17 && load<u32>(from) === 0x70747468 && load<u32>(from, 3) === 0x65722e70)
  )
}

function readObject(kind: i32, value: usize): usize {
  if (kind === Kind.ERROR) {
    if (hasError) return 0
    hasError = true
    return readError(value, load<u32>(OPTION, 8) !== 0 && !isForBreadcrumb)
  }
  if (kind === Kind.REQ ? hasReq : hasRes) return 0
  if (!hasReq && !hasRes) resetRequest()
  if (kind === Kind.REQ) hasReq = true
  else hasRes = true
  return kind === Kind.REQ ? readReq(value) : readRes(value)
}

/** Reads a mapped member. Returns false if it is declined. */
function readMember(kind: i32, at: usize, value: usize, end: usize): bool {
  const isText = load<u8>(value) === QUOTE
  if (kind >= Kind.SLOT && kind < Kind.CATEGORY) return fillSlot(kind - Kind.SLOT, value, end, isText)
  switch (kind) {
    case Kind.MESSAGE:
      if (!isText) return false
      message.set(value, end)
      return true
    case Kind.LEVEL:
      // A later level or time is logged data.
      if (level !== 0) return false
      level = findLevel(value, end)
      return level !== 0
    case Kind.TIME:
      return time.isEmpty && readTime(value, end, time)
    case Kind.DURATION: {
      const c = load<u8>(value)
      if ((c !== 0x2d && <u32>c - 0x30 > 9) || !duration.isEmpty || isInexactInteger(value, end)) return false
      duration.set(value, end)
      return true
    }
    case Kind.OTHER_ID:
      if (!otherId.isEmpty || !isId(value, end, isText) || (end - value === 2 && isText)) return false
      otherId.set(value, end)
      otherIdMember.set(at, end)
      return true
    case Kind.USER:
      if (!user.isEmpty || !hasAnswer(Question.USER, value, end)) return false
      takeText(user)
      takeText(userRest)
      return true
    case Kind.TAGS:
      if (!tags.isEmpty || !hasAnswer(Question.TAGS, value, end)) return false
      takeText(tags)
      return true
    case Kind.CATEGORY:
      if (!category.isEmpty || !isText || end - value === 2) return false
      category.set(value, end)
      return true
    case Kind.LEFT_OUT:
      return true
  }
  if (!isText) return false
  const field =
    kind === Kind.NAME ? name : kind === Kind.SERVICE ? service : kind === Kind.ENVIRONMENT ? environment : version
  if (!field.isEmpty) return false
  field.set(value, end)
  return true
}

function isId(value: usize, end: usize, isText: bool): bool {
  return isText || isPlainInteger(value, end)
}

function fillSlot(i: i32, value: usize, end: usize, isText: bool): bool {
  const field = slot(i)
  // Fastify's `reqId` may repeat the scope's `request_id`.
  if (!field.isEmpty) return i < Slot.TRACE && isSameId(field, value, end)
  if (!isId(value, end, isText) || (i === Slot.REQUEST && isText && end - value === 2)) return false
  // AWS X-Ray's form, which the reference path converts.
  if (i === Slot.TRACE && (load<u16>(value + 1) === 0x2d31 || hasByte(value, end, 0x3d))) return false
  useSlot(i, value, end)
  return true
}

/** Whether two ids are equal, of which one may be quoted. */
function isSameId(one: Range, value: usize, end: usize): bool {
  const a = unquotedStart(one.start)
  const aEnd = a === one.start ? one.end : one.end - 1
  const b = unquotedStart(value)
  const bEnd = b === value ? end : end - 1
  return aEnd - a === bEnd - b && memory.compare(a, b, aEnd - a) === 0
}

function unquotedStart(at: usize): usize {
  return load<u8>(at) === QUOTE ? at + 1 : at
}

/** A level of the table: length, severity, opening of the entry, member for the metadata, and the value. */
function findLevel(value: usize, end: usize): usize {
  const bytes = end - value
  if (bytes > MAX_LEVEL_BYTES) return 0
  const known = findKnownLevel(value, bytes)
  if (known !== 0) return known
  return hasAnswer(Question.LEVEL, value, end) ? findKnownLevel(value, bytes) : 0
}

function findKnownLevel(value: usize, bytes: usize): usize {
  const count = load<i32>(OPTION, 12)
  for (let i = 0; i < count; i++) {
    const at = LEVELS + <usize>i * LEVEL_BYTES + 0
    if (load<u32>(at) === <u32>bytes && memory.compare(at + 24, value, bytes) === 0) return at
  }
  return 0
}

/** Chooses one of several request ids as the field of the entry. Returns whether the other one is kept in the metadata. */
export function placeOtherId(): void {
  if (otherId.isEmpty) return
  const known = slot(Slot.REQUEST)
  if (known.isEmpty) useSlot(Slot.REQUEST, otherId.start, otherId.end)
  else if (!isSameId(known, otherId.start, otherId.end)) metadata.add(otherIdMember.start, otherIdMember.end)
}

/** Uses the id within `req`, as pino-http writes it. Returns whether it differs and is kept in the metadata. */
export function placeRequestId(): bool {
  if (!hasReq) return false
  const known = slot(Slot.REQUEST)
  if (!known.isEmpty) return !request.id.isEmpty && !isSameId(known, request.id.start, request.id.end)
  const own = request.id.isEmpty ? request.headerId : request.id
  if (!own.isEmpty) useSlot(Slot.REQUEST, own.start, own.end)
  return false
}
