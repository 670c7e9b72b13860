/** Reads errors as pino's serializer writes them. Other forms are read by `../answers.ts`. */
import { Question, hasAnswer, takeText, tell } from './ask'
import { Fields, isUsual } from './error-fields'
import { innerKind } from './keys'
import { Option } from './memory'
import {
  Members,
  Range,
  at as position,
  beginMembers,
  beginText,
  copy,
  endText,
  put,
  putByte,
  putMember,
  putOption,
  separate,
  setAt,
} from './output'
import { findSource } from './stack'
import { find, hasEscapeIn } from './text'
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
/** Bits of `innerKind` for members that may be removed or changed. */
const MAY_HOLD: i32 = 3
/** Of an error with more parts all members are asked about. */
const MAX_PARTS: usize = 20

export const own = new Fields(3)
/** The cause, or one of the errors of an aggregate. */
const part = new Fields(4)
/** The stacks of the parts, which are appended to the error's own. */
const stacks = new Members(5)
let isCause = false
/** The answers of `../answers.ts`: text at the end of the stack, the other members, a note about removed ones. */
const moreStack = new Range()
const answeredRest = new Range()
const note = new Range()
export const source = new Range()
export const fingerprint = new Range()
/** Whether `../answers.ts` decided about the other members. */
let isAnswered = false

/** Position after the value at `at`; 0 if it is neither an error nor its message. */
export function readError(at: usize, isComputed: bool): usize {
  own.clear()
  stacks.count = 0
  moreStack.clear()
  answeredRest.clear()
  note.clear()
  source.clear()
  fingerprint.clear()
  isAnswered = false
  if (load<u8>(at) === QUOTE) {
    const end = valueEnd(at)
    own.message.set(at, end)
    if (end !== 0 && isComputed && !askFingerprint()) return 0
    return end
  }
  if (load<u8>(at) !== OPEN_BRACE) return 0
  const first = next
  const end = readMembers(own, at)
  // The reference path reads the message from the stack.
  if (end !== 0 && own.message.isEmpty) return 0
  if (
    end !== 0 &&
    (stacks.count === 0 || foldStacks()) &&
    findSource(own.stack, own.message, source) &&
    (!own.mayChange || askMembers())
  )
    return !isComputed || askFingerprint() ? end : 0
  // Another form.
  setNext(first)
  const after = valueEnd(at)
  if (after === 0 || !hasAnswer(Question.ERROR, at, after)) return 0
  takeText(own.type)
  takeText(own.message)
  takeText(own.stack)
  takeText(answeredRest)
  takeText(note)
  takeText(source)
  moreStack.clear()
  isAnswered = true
  return !isComputed || askFingerprint() ? after : 0
}

/** Asks about an error whose stack is only the text before the frames. Returns false if the frames are required. */
function askMembers(): bool {
  // An empty message may be that of the parts.
  if (source.isEmpty || own.message.isEmptyText) return false
  const head = find(own.stack.start, own.stack.end, '\\n    at ')
  if (head === 0 || load<u8>(head - 1) === 0x5c) return false
  const from = beginText()
  putNamed(own)
  put(',"stack":')
  copy(own.stack.start, head)
  putByte(QUOTE)
  putRest(own)
  if (!hasAnswer(Question.ERROR_MEMBERS, from, endText())) return false
  takeText(own.type)
  takeText(own.message)
  takeText(moreStack)
  takeText(answeredRest)
  takeText(note)
  moreStack.start += head - own.stack.start
  moreStack.end--
  isAnswered = true
  return true
}

/** Starts an object with type and message. */
function putNamed(fields: Fields): void {
  put('{"type":')
  fields.type.put()
  put(',"message":')
  fields.message.put()
}

/** Ends it with the other members. */
function putRest(fields: Fields): void {
  if (fields.rest.count > 0) {
    putByte(COMMA)
    fields.rest.put()
  }
  putByte(CLOSE_BRACE)
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
    } else if (hasEscapeIn(from, value)) return 0
    else if (kind !== PARTS || fields !== own || !addParts(from, value, first)) {
      if (kind !== 0 || isIndex(from + 1, value - 2)) fields.mayChange = true
      else if (isOpening(load<u8>(value)) && (fields === part || (found & MAY_HOLD) !== 0)) fields.mayChange = true
      fields.rest.add(from, i)
    }
    i = afterMember(i)
    if (i === 0) return 0
    if (isClosed) break
  }
  return isUsual(fields) ? i : 0
}

/**
 * Adds the cause or the list of errors to the other members, without the stacks, see `foldCause`. Returns false if the
 * value has another form. @param from position of the key @param first position of the value in the index
 */
function addParts(from: usize, value: usize, first: usize): bool {
  if (stacks.count > 0) return false
  const after = next
  const count = own.rest.count
  setNext(first)
  isCause = load<u8>(value) === OPEN_BRACE
  const isAdded = isCause ? addPart(from, value) !== 0 : addList(from, value)
  setNext(after)
  if (isAdded) return true
  own.rest.count = count
  stacks.count = 0
  return false
}

function addList(from: usize, value: usize): bool {
  if (load<u8>(value) !== OPEN_BRACKET) return false
  setNext(next + 4)
  let i = addPart(from, value + 1)
  while (i !== 0 && load<u8>(i) === COMMA && stacks.count < MAX_PARTS) {
    setNext(next + 4)
    i = addPart(i + 1, i + 1)
  }
  return i !== 0 && load<u8>(i) === CLOSE_BRACKET
}

/** @param from position of what precedes the part @returns the position after it; 0 if it has another form */
function addPart(from: usize, at: usize): usize {
  part.clear()
  const i = readMembers(part, at)
  if (i === 0 || part.mayChange || part.message.isEmpty || part.stack.isEmpty || part.stack.isEmptyText) return 0
  stacks.add(part.stack.start + 1, part.stack.end - 1)
  const start = beginText()
  copy(from, at)
  putNamed(part)
  putRest(part)
  if (!isCause && load<u8>(i) === CLOSE_BRACKET) putByte(CLOSE_BRACKET)
  own.rest.add(start, endText())
  return i
}

/** Appends the stacks of the parts to the error's own, see `foldCause` and `foldParts`. Returns false if a part decides more. */
function foldStacks(): bool {
  // An empty message may be that of the parts.
  if (own.stack.isEmpty || own.mayChange || own.message.isEmptyText) return false
  const start = beginText()
  copy(own.stack.start, own.stack.end - 1)
  for (let i: usize = 0; i < stacks.count; i++) {
    put('\\n')
    if (isCause) put('caused by: ')
    else {
      put('error ')
      putCount(i + 1)
      put(' of ')
      putCount(stacks.count)
      put(': ')
    }
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

/** The entry's error. */
export function putError(): void {
  put(',"error":{')
  beginMembers()
  putMember('"type":', own.type)
  putMember('"message":', own.message)
  putMember('"stack":', own.stack)
  if (!moreStack.isEmpty) {
    setAt(position - 1)
    moreStack.put()
    putByte(QUOTE)
  }
  putByte(CLOSE_BRACE)
}

/** The other members, and a note about removed ones. */
export function putOthers(): void {
  if (isAnswered ? !answeredRest.isEmpty : own.rest.count > 0) {
    separate()
    put('"error":{')
    if (isAnswered) answeredRest.put()
    else own.rest.put()
    putByte(CLOSE_BRACE)
  }
  if (note.isEmpty) return
  separate()
  putOption(Option.NOTE)
  note.put()
}
