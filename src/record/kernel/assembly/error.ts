/** Reads errors as pino's serializer writes them. Other forms are read by `../answers.ts`. */
import { hasAnswer, takeText, tell } from './ask'
import { Question } from '../../memory'
import { Fields, isUsual, placeName } from './error-fields'
import { innerKind } from './keys'
import { Members, Range, beginMembers, beginText, copy, endText, put, putByte, putMember, separate } from './output'
import { findSource } from './stack'
import { hasEscapeIn } from './text'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  MAX_KEYS,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  afterMember,
  found,
  isClosed,
  isOpening,
  keyEnd,
  next,
  openObject,
  setNext,
  valueEnd,
} from './values'

const ERROR_SHIFT: i32 = 16
/** Kinds of members, see `innerKinds`; others may be removed or changed. */
const TYPE: i32 = 1
const MESSAGE: i32 = 2
const STACK: i32 = 3
const PARTS: i32 = 5
const NAME: i32 = 6
/** Bits of `innerKind` for members that may be removed or changed. */
const MAY_HOLD: i32 = 3
const MAX_PARTS: usize = 20

export const own = new Fields(3)
const part = new Fields(4)
/** The stacks of the parts, which are appended to the error's own. */
const stacks = new Members(5)
const note = new Range()
export const source = new Range()
export const fingerprint = new Range()

/** Position after the value at `at`; 0 if it is neither an error nor its message. */
export function readError(at: usize, isComputed: bool): usize {
  own.clear()
  stacks.count = 0
  note.clear()
  source.clear()
  fingerprint.clear()
  let end: usize = 0
  if (load<u8>(at) === QUOTE) {
    end = valueEnd(at)
    own.message.set(at, end)
  } else if (load<u8>(at) === OPEN_BRACE) {
    const first = next
    end = readMembers(own, at)
    const isRead = end !== 0 && !own.message.isEmpty && (stacks.count === 0 || foldStacks())
    if (!isRead || !findSource(own.stack, own.message, source)) {
      setNext(first)
      end = askError(at)
    }
  }
  return end !== 0 && isComputed && !askFingerprint() ? 0 : end
}

function askError(at: usize): usize {
  const end = valueEnd(at)
  if (end === 0 || !hasAnswer(Question.ERROR, at, end)) return 0
  own.clear()
  takeText(own.type)
  takeText(own.message)
  takeText(own.stack)
  takeText(note)
  if (!note.isEmpty) own.rest.add(note.start, note.end)
  takeText(note)
  takeText(source)
  return end
}

function askFingerprint(): bool {
  tell(0, own.type)
  tell(1, own.message)
  tell(2, source)
  if (!hasAnswer(Question.FINGERPRINT, 0, 0)) return false
  takeText(fingerprint)
  return true
}

/** Reads the error at `at`. Returns the position after it; 0 if it has another form. */
function readMembers(fields: Fields, at: usize): usize {
  let keys = 0
  let i = openObject(at)
  if (i === 0) return 0
  while (true) {
    const from = i
    const value = keyEnd(i)
    if (value === 0 || ++keys > MAX_KEYS) return 0
    const bits = innerKind(from + 1, value - from - 3)
    const kind = (bits >> ERROR_SHIFT) & 15
    const first = next
    i = valueEnd(value)
    if (i === 0) return 0
    if (kind === TYPE || kind === MESSAGE || kind === STACK) {
      if (load<u8>(value) !== QUOTE) return 0
      if (kind === TYPE) fields.type.set(value, i)
      else if (kind === MESSAGE) fields.message.set(value, i)
      else fields.stack.set(value, i)
    } else if (kind === NAME) fields.name.set(value, i)
    else if (hasEscapeIn(from, value)) return 0
    else if (kind === PARTS) {
      if (fields === part || !addParts(from, value, first)) return 0
    } else {
      if (kind !== 0 || isIndex(from + 1, value - 2)) return 0
      if (isOpening(load<u8>(value)) && (fields === part || (found & MAY_HOLD) !== 0)) return 0
      fields.rest.add(from, i)
    }
    i = afterMember(i)
    if (i === 0) return 0
    if (isClosed) break
  }
  placeName(fields)
  return isUsual(fields) ? i : 0
}

/**
 * Adds the list of errors to the other members, without the stacks, see `foldParts`. Returns false if the value has
 * another form. @param from position of the key @param first position of the value in the index
 */
function addParts(from: usize, value: usize, first: usize): bool {
  if (stacks.count > 0 || load<u8>(value) !== OPEN_BRACKET) return false
  const after = next
  setNext(first + 4)
  let i = addPart(from, value + 1)
  while (i !== 0 && load<u8>(i) === COMMA && stacks.count < MAX_PARTS) {
    setNext(next + 4)
    i = addPart(i + 1, i + 1)
  }
  setNext(after)
  return i !== 0 && load<u8>(i) === CLOSE_BRACKET
}

/** @param from position of what precedes the part @returns the position after it; 0 if it has another form */
function addPart(from: usize, at: usize): usize {
  part.clear()
  const i = readMembers(part, at)
  if (i === 0 || part.message.isEmpty || part.stack.isEmpty || part.stack.isEmptyText) return 0
  stacks.add(part.stack.start + 1, part.stack.end - 1)
  const start = beginText()
  copy(from, at)
  put('{"type":')
  part.type.put()
  put(',"message":')
  part.message.put()
  if (part.rest.count > 0) {
    putByte(COMMA)
    part.rest.put()
  }
  putByte(CLOSE_BRACE)
  if (load<u8>(i) === CLOSE_BRACKET) putByte(CLOSE_BRACKET)
  own.rest.add(start, endText())
  return i
}

/** Appends the stacks of the parts to the error's own, see `foldParts`. Returns false if a part decides more. */
function foldStacks(): bool {
  // An empty message may be that of the parts.
  if (own.stack.isEmpty || own.message.isEmptyText) return false
  const start = beginText()
  copy(own.stack.start, own.stack.end - 1)
  for (let i: usize = 0; i < stacks.count; i++) {
    put('\\nerror ')
    putCount(i + 1)
    put(' of ')
    putCount(stacks.count)
    put(': ')
    stacks.putOne(i)
  }
  putByte(QUOTE)
  own.stack.set(start, endText())
  return true
}

/** @param count at most 99 */
function putCount(count: usize): void {
  if (count > 9) putByte(<u8>(0x30 + count / 10))
  putByte(<u8>(0x30 + (count % 10)))
}

function isIndex(from: usize, to: usize): bool {
  for (let i = from; i < to; i++) if (<u32>load<u8>(i) - 0x30 > 9) return false
  return to > from
}

export function putError(): void {
  put(',"error":{')
  beginMembers()
  putMember('"type":', own.type)
  putMember('"message":', own.message)
  putMember('"stack":', own.stack)
  putByte(CLOSE_BRACE)
}

export function putOthers(): void {
  if (own.rest.count > 0) {
    separate()
    put('"error":{')
    own.rest.put()
    putByte(CLOSE_BRACE)
  }
  if (note.isEmpty) return
  separate()
  note.put()
}
