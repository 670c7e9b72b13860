/** The members of an error that the mapping reads. */
import { Members, Range, beginText, copy, endText, putByte } from './output'
import { equalsText, find, startsWith } from './text'
import { QUOTE } from './values'

const MAX_SEPARATORS = 3
/** `"name":` */
const NAME_KEY_BYTES: usize = 7

export class Fields {
  type: Range = new Range()
  message: Range = new Range()
  stack: Range = new Range()
  name: Range = new Range()
  rest: Members

  constructor(slot: usize) {
    this.rest = new Members(slot)
  }

  clear(): void {
    this.type.clear()
    this.message.clear()
    this.stack.clear()
    this.name.clear()
    this.rest.count = 0
  }
}

/** A name that the application or a library set is the type, unless the class says more; otherwise a member like others. */
export function placeName(fields: Fields): void {
  const name = fields.name
  if (name.isEmpty) return
  const isText = load<u8>(name.start) === QUOTE && !name.isEmptyText
  if (isText && (fields.type.isEmpty || equalsText(fields.type, '"Error"'))) fields.type.set(name.start, name.end)
  else fields.rest.add(name.start - NAME_KEY_BYTES, name.end)
}

/** Whether type and message need no look at the stack. */
export function isUsual(fields: Fields): bool {
  const type = fields.type
  const message = fields.message
  const stack = fields.stack
  if (type.isEmpty) return false
  const bytes = type.end - type.start - 2
  if (bytes === 0 || equalsText(type, '"Object"') || equalsText(type, '"DOMException"')) return false
  if (equalsText(type, '"Error"') && !startsWithError(stack)) return false
  return message.isEmpty || stack.isEmpty || removeCauses(message, stack)
}

/**
 * Removes the messages of causes that pino appended, see `findOwnMessage`. Returns false if only the decoded text shows
 * them.
 */
function removeCauses(message: Range, stack: Range): bool {
  if (find(message.start, message.end, ': ') === 0) return true
  const causes = find(stack.start, stack.end, '\\ncaused by: ')
  if (causes === 0) return true
  const frames = find(stack.start, stack.end, '\\n    at ')
  if (frames === 0 || frames > causes || load<u8>(causes - 1) === 0x5c) return false
  if (find(stack.start, frames, '\\u') !== 0 || find(message.start, message.end, '\\u') !== 0) return false
  return chooseMessage(message, stack.start + 1, frames)
}

/** The candidates are the text before the frames, and that after each of its first separators. */
function chooseMessage(message: Range, head: usize, end: usize): bool {
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
function startsWithError(stack: Range): bool {
  if (stack.isEmpty || stack.isEmptyText) return true
  const at = stack.start + 1
  if (load<u32>(at) !== 0x6f727245 || load<u8>(at + 4) !== 0x72) return false
  const c = load<u8>(at + 5)
  return c === 0x3a || c === 0x20 || at + 5 === stack.end - 1 || (c === 0x5c && load<u8>(at + 6) === 0x6e)
}
