/** Reads errors as pino's serializer writes them. Other forms, causes and parts are read by `../answers.ts`. */
import { Question, hasAnswer, takeText, tell } from './ask'
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
import { equalsText, find, hasEscapeIn, startsWith } from './text'
import {
  CLOSE_BRACE,
  COMMA,
  MAX_KEYS,
  OPEN_BRACE,
  QUOTE,
  afterMember,
  found,
  isClosed,
  isOpening,
  keyEnd,
  memberEnd,
  next,
  openObject,
  setNext,
  valueEnd,
} from './values'

const ERROR_SHIFT: i32 = 16
/** Bits of `innerKind` for members that may be removed or changed. */
const MAY_HOLD: i32 = 3
const MAX_SEPARATORS = 3

export const type = new Range()
export const message = new Range()
const stack = new Range()
/** The answers of `../answers.ts`: text at the end of the stack, the other members, a note about removed ones. */
const moreStack = new Range()
const answeredRest = new Range()
const note = new Range()
export const source = new Range()
export const fingerprint = new Range()
const rest = new Members(3)
/** Whether `../answers.ts` decided about the other members. */
let isAnswered = false
/** Whether a member may be removed, changed or a part of the error. */
let mayChange = false

/** Position after the value at `at`; 0 if it is neither an error nor its message. */
export function readError(at: usize, isComputed: bool): usize {
  type.clear()
  message.clear()
  stack.clear()
  moreStack.clear()
  answeredRest.clear()
  note.clear()
  source.clear()
  fingerprint.clear()
  rest.count = 0
  isAnswered = mayChange = false
  if (load<u8>(at) === QUOTE) {
    const end = valueEnd(at)
    message.set(at, end)
    if (end !== 0 && isComputed && !askFingerprint()) return 0
    return end
  }
  if (load<u8>(at) !== OPEN_BRACE) return 0
  const first = next
  const end = readMembers(at)
  // The reference path reads the message from the stack.
  if (end !== 0 && message.isEmpty) return 0
  if (end !== 0 && findSource(stack, message, source) && (!mayChange || askMembers()))
    return !isComputed || askFingerprint() ? end : 0
  // Another form.
  setNext(first)
  const after = valueEnd(at)
  if (after === 0 || !hasAnswer(Question.ERROR, at, after)) return 0
  takeText(type)
  takeText(message)
  takeText(stack)
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
  if (source.isEmpty || message.end - message.start === 2) return false
  const head = find(stack.start, stack.end, '\\n    at ')
  if (head === 0 || load<u8>(head - 1) === 0x5c) return false
  const from = beginText()
  put('{"type":')
  type.put()
  put(',"message":')
  message.put()
  put(',"stack":')
  copy(stack.start, head)
  putByte(QUOTE)
  if (rest.count > 0) {
    putByte(COMMA)
    rest.put()
  }
  putByte(CLOSE_BRACE)
  if (!hasAnswer(Question.ERROR_MEMBERS, from, endText())) return false
  takeText(type)
  takeText(message)
  takeText(moreStack)
  takeText(answeredRest)
  takeText(note)
  moreStack.start += head - stack.start
  moreStack.end--
  isAnswered = true
  return true
}

function askFingerprint(): bool {
  tell(0, type)
  tell(1, message)
  tell(2, source)
  if (!hasAnswer(Question.FINGERPRINT, 0, 0)) return false
  takeText(fingerprint)
  return true
}

function readMembers(at: usize): usize {
  let keys = 0
  let i = openObject(at)
  if (i === 0) return 0
  while (true) {
    const from = i
    const value = keyEnd(i)
    if (value === 0 || ++keys > MAX_KEYS) return 0
    const bits = innerKind(from + 1, value - from - 3)
    const kind = (bits >> ERROR_SHIFT) & 15
    i = memberEnd(from, value)
    if (i === 0) return 0
    const isText = load<u8>(value) === QUOTE
    if (kind === 1 || kind === 2 || kind === 3) {
      if (!isText) return 0
      if (kind === 1) type.set(value, i)
      else if (kind === 2) message.set(value, i)
      else stack.set(value, i)
    } else if (hasEscapeIn(from, value)) return 0
    else {
      if (kind !== 0 || isIndex(from + 1, value - 2)) mayChange = true
      else if (isOpening(load<u8>(value)) && (found & MAY_HOLD) !== 0) mayChange = true
      rest.add(from, i)
    }
    i = afterMember(i)
    if (i === 0) return 0
    if (isClosed) break
  }
  return isUsual() ? i : 0
}

function isIndex(from: usize, to: usize): bool {
  for (let i = from; i < to; i++) if (<u32>load<u8>(i) - 0x30 > 9) return false
  return to > from
}

/** Whether type and message need no look at the stack. */
function isUsual(): bool {
  if (type.isEmpty) return false
  const bytes = type.end - type.start - 2
  if (bytes === 0 || equalsText(type, '"Object"') || equalsText(type, '"DOMException"')) return false
  if (equalsText(type, '"Error"') && !startsWithError()) return false
  return message.isEmpty || stack.isEmpty || removeCauses()
}

/**
 * Removes the messages of causes that pino appended, see `findOwnMessage`. Returns false if only the decoded text shows
 * them.
 */
function removeCauses(): bool {
  if (find(message.start, message.end, ': ') === 0) return true
  const causes = find(stack.start, stack.end, '\\ncaused by: ')
  if (causes === 0) return true
  const frames = find(stack.start, stack.end, '\\n    at ')
  if (frames === 0 || frames > causes || load<u8>(causes - 1) === 0x5c) return false
  if (find(stack.start, frames, '\\u') !== 0 || find(message.start, message.end, '\\u') !== 0) return false
  return chooseMessage(stack.start + 1, frames)
}

/** The candidates are the text before the frames, and that after each of its first separators. */
function chooseMessage(head: usize, end: usize): bool {
  const from = message.start + 1
  const to = message.end - 1
  let at = head
  let own: usize = 0
  for (let separators = 0; separators <= MAX_SEPARATORS; separators++) {
    const bytes = end - at
    if (bytes <= to - from && memory.compare(from, at, bytes) === 0) {
      if (bytes === to - from) return true
      if (own === 0 && startsWith(from + bytes, to, ': ')) own = from + bytes
    }
    const separator = find(at, end, ': ')
    if (separator === 0) break
    at = separator + 2
  }
  if (own === 0) return false
  const start = beginText()
  copy(message.start, own)
  putByte(QUOTE)
  message.set(start, endText())
  return true
}

/** No stack, or one that starts with the generic type. */
function startsWithError(): bool {
  if (stack.isEmpty || stack.end - stack.start === 2) return true
  const at = stack.start + 1
  if (load<u32>(at) !== 0x6f727245 || load<u8>(at + 4) !== 0x72) return false
  const c = load<u8>(at + 5)
  return c === 0x3a || c === 0x20 || at + 5 === stack.end - 1 || (c === 0x5c && load<u8>(at + 6) === 0x6e)
}

/** The entry's error. */
export function putError(): void {
  put(',"error":{')
  beginMembers()
  putMember('"type":', type)
  putMember('"message":', message)
  putMember('"stack":', stack)
  if (!moreStack.isEmpty) {
    setAt(position - 1)
    moreStack.put()
    putByte(QUOTE)
  }
  putByte(CLOSE_BRACE)
}

/** The other members, and a note about removed ones. */
export function putOthers(): void {
  if (isAnswered ? !answeredRest.isEmpty : rest.count > 0) {
    separate()
    put('"error":{')
    if (isAnswered) answeredRest.put()
    else rest.put()
    putByte(CLOSE_BRACE)
  }
  if (note.isEmpty) return
  separate()
  putOption(Option.NOTE)
  note.put()
}
