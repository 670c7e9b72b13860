/** Reads the frames of a stack as V8 writes them. */
import { Range } from './output'
import { find, startsWith } from './text'

const MAX_FRAMES = 100
/** Before the message: the error's name and code. */
const MAX_HEAD_BYTES: usize = 256
const MAX_FRAME_BYTES: usize = 1_000

/**
 * The application's top frame, see `parseFrameLocation`. Sets `source` to it. Returns false for a stack that needs a closer look: a
 * path has escapes, or a frame has an unusual form.
 */
export function findSource(stack: Range, message: Range, source: Range): bool {
  if (stack.isEmpty) return true
  const end = stack.end - 1
  let at = nextLine(stack.start + 1, end)
  // Frames in a message of several lines are those of another error.
  if (find(message.start, message.end, '\\n') !== 0) {
    const from = stack.start + 1
    const after = messageEnd(from, min(at, from + MAX_HEAD_BYTES), end, message)
    if (after !== 0) at = nextLine(after, end)
    else if (at > from + MAX_HEAD_BYTES) return false
  }
  for (let frames = 0; at !== 0 && frames < MAX_FRAMES; frames++) {
    if (load<u8>(at - 1) === 0x5c) return false
    const from = at + 2
    at = nextLine(from, end)
    const to = at === 0 ? end : at
    const result = readFrame(from, to, source)
    if (result < 0) return false
    if (result > 0) return true
  }
  return true
}

/** Position after the message, which starts between `from` and `to`; 0 without it, see `findMessageEnd`. */
function messageEnd(from: usize, to: usize, end: usize, message: Range): usize {
  const bytes = message.end - message.start - 2
  for (let i = from; i <= to && i + bytes <= end; i++) {
    if (memory.compare(i, message.start + 1, bytes) === 0) return i + bytes
    if (load<u8>(i) === 0x5c) i++
  }
  return 0
}

/** Position of the next escaped line break; 0 if there is none. Other escapes are part of the line. */
function nextLine(from: usize, end: usize): usize {
  for (let i = from; i < end; i++) {
    if (load<u8>(i) === 0x5c) {
      if (load<u8>(i + 1) === 0x6e) return i
      i++
    }
  }
  return 0
}

/** 1 and the source if it is the application's frame, 0 if not, -1 for an unusual form. */
function readFrame(from: usize, to: usize, source: Range): i32 {
  if (to - from > MAX_FRAME_BYTES) return -1
  let i = from
  while (i < to && load<u8>(i) === 0x20) i++
  // An escape or a wide character may be white space.
  if (!startsWith(i, to, 'at ')) return load<u8>(i) === 0x5c || load<u8>(i) >= 0x80 ? -1 : 0
  let place = i + 3
  let end = to
  for (let j = place; j < to; j++) {
    const c = load<u8>(j)
    if (c === 0x5c || c >= 0x80) return -1
    if (c === 0x28) place = j + 1
  }
  if (find(place, to, 'node_modules') !== 0 || startsWith(place, to, 'node:')) return 0
  const isInBrackets = load<u8>(to - 1) === 0x29
  if (isInBrackets !== (place !== i + 3)) return -1
  if (isInBrackets) end--
  if (!endsWithLineAndColumn(place, end)) return 0
  if (startsWith(place, end, 'async ')) place += 6
  const isUrl = startsWith(place, end, 'file:///')
  if (!isUrl && load<u8>(place) !== 0x2f) return -1
  for (let j = place; j < end; j++) if (load<u8>(j) === 0x29 || load<u8>(j) === 0x3c) return -1
  source.set(isUrl ? place + 7 : place, end)
  return 1
}

function endsWithLineAndColumn(from: usize, end: usize): bool {
  let i = end
  for (let n = 0; n < 2; n++) {
    const last = i
    while (i > from && <u32>load<u8>(i - 1) - 0x30 < 10) i--
    if (i === last || i === from || load<u8>(i - 1) !== 0x3a) return false
    i--
  }
  return true
}
