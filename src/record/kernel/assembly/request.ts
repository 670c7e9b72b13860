/** Reads `req` and `res` of pino-http and Fastify. */
import { hasAnswer, takeText } from './ask'
import { innerKind } from './keys'
import { Question, RESULT, Result } from '../../memory'
import { Members, Range, beginMembers, beginText, copy, endText, put, putByte, putMember, separate } from './output'
import { hasByte, hasEscapeIn } from './text'
import {
  CLOSE_BRACE,
  COLON,
  MAX_KEYS,
  OPEN_BRACE,
  QUOTE,
  afterMember,
  isClosed,
  isPlainInteger,
  keyEnd,
  openObject,
  valueEnd,
} from './values'

/** What the bits of `innerKind` mean for a member of `req`, of `res` and of headers. */
const REQ_SHIFT: i32 = 8
const RES_SHIFT: i32 = 12
const HEADER_SHIFT: i32 = 20
const MAX_URL_BYTES: usize = 3_000

export const method = new Range()
export const url = new Range()
export const status = new Range()
export const ip = new Range()
export const userAgent = new Range()
export const id = new Range()
export const headerId = new Range()
/** The caller's, as JSON, and its trace id. */
export const trace = new Range()
export const traceId = new Range()
const otherTrace = new Range()
export const reqRest = new Members(1)
export const resRest = new Members(2)
let pathEnd: usize = 0

export function reset(): void {
  method.clear()
  url.clear()
  status.clear()
  ip.clear()
  userAgent.clear()
  id.clear()
  headerId.clear()
  trace.clear()
  traceId.clear()
  reqRest.count = resRest.count = 0
  memory.fill(RESULT + Result.HEADERS, 0, 24)
}

function setHeaders(index: usize, start: usize, end: usize): void {
  store<u32>(RESULT + Result.HEADERS + (index << 3), <u32>start)
  store<u32>(RESULT + Result.HEADERS + (index << 3), <u32>end, 4)
}

/** Position after the object at `at`; 0 if it is declined, as an empty one. */
export function readReq(at: usize): usize {
  let keys = 0
  let i = openObject(at)
  if (i === 0) return 0
  while (true) {
    const from = i
    const value = keyEnd(i)
    if (value === 0 || ++keys > MAX_KEYS) return 0
    const bytes = value - from - 3
    const kind = (innerKind(from + 1, bytes) >> REQ_SHIFT) & 15
    const first = load<u8>(value)
    const isText = first === QUOTE
    if (kind === 5 && first === OPEN_BRACE) {
      if (load<u32>(RESULT + Result.HEADERS, 4) !== 0) return 0 // the second would win
      i = readHeaders(value)
      if (i === 0) return 0
      setHeaders(0, value, i)
    } else {
      i = valueEnd(value)
      if (i === 0) return 0
      if (kind === 1) {
        if (!isText) return 0
        method.set(value, i)
        if (!isUpperCase(value + 1, i - 1)) {
          if (!hasAnswer(Question.METHOD, value, i)) return 0
          takeText(method)
        }
      } else if (kind === 2) {
        if (!isText || !url.isEmpty || i - value > MAX_URL_BYTES) return 0
        url.set(value, i)
      } else if (kind === 3) {
        const least: usize = isText ? 3 : 1
        if (i - value < least || (!isText && !isPlainInteger(value, i))) return 0
        id.set(value, i)
      } else if (kind === 4) {
        if (!isText) return 0
        ip.set(value, i)
      } else if (kind === 7 || (kind === 5 && load<u32>(RESULT + Result.HEADERS, 4) !== 0) || hasEscapeIn(from, value))
        return 0
      else if (kind === 0) reqRest.add(from, i)
    }
    i = afterMember(i)
    if (i === 0) return 0
    if (isClosed) break
  }
  return url.isEmpty || findPath() ? i : 0
}

function isUpperCase(from: usize, to: usize): bool {
  for (let i = from; i < to; i++) if (load<u8>(i) > 0x5a) return false
  return true
}

function findPath(): bool {
  if (load<u8>(url.start + 1) !== 0x2f) return false
  pathEnd = url.start + 1
  let isPath = true
  for (let i = pathEnd; i < url.end - 1; i++) {
    const c = load<u8>(i)
    if (c === 0x5c) return false
    if (c === 0x3f || c === 0x23) isPath = false
    if (isPath) pathEnd = i + 1
  }
  return true
}

export function readRes(at: usize): usize {
  let keys = 0
  let i = openObject(at)
  if (i === 0) return 0
  while (true) {
    const from = i
    const value = keyEnd(i)
    if (value === 0 || ++keys > MAX_KEYS) return 0
    const kind = (innerKind(from + 1, value - from - 3) >> RES_SHIFT) & 15
    i = valueEnd(value)
    if (i === 0) return 0
    if (kind === 1 || kind === 2) {
      // `status` may be something else, see `STATUS`.
      const isOther = kind === 2 && (i - value !== 3 || <u32>load<u8>(value) - 0x31 > 8)
      if (!status.isEmpty || isOther || !isPlainInteger(value, i)) return 0
      status.set(value, i)
    } else if (kind === 3) setHeaders(1, value, i)
    else if (kind === 5 || hasEscapeIn(from, value)) return 0
    else if (kind === 0) resRest.add(from, i)
    i = afterMember(i)
    if (i === 0) return 0
    if (isClosed) return i
  }
}

/** Headers are not sent, except those that become a field. */
function readHeaders(at: usize): usize {
  if (load<u8>(at + 1) === CLOSE_BRACE) return valueEnd(at)
  let others = 0
  let keys = 0
  let i = openObject(at)
  if (i === 0) return 0
  while (true) {
    const from = i
    const value = keyEnd(i)
    if (value === 0 || ++keys > MAX_KEYS) return 0
    const kind = (innerKind(from + 1, value - from - 3) >> HEADER_SHIFT) & 7
    i = valueEnd(value)
    if (i === 0) return 0
    const isText = load<u8>(value) === QUOTE
    if (kind === 1) {
      if (isText) userAgent.set(value, i)
      else userAgent.clear()
      setHeaders(2, value, i)
    } else if (kind === 2) {
      // With a colon it may be a header itself.
      if (hasByte(value, i, COLON)) return 0
      if (isText && isHeaderId(value + 1, i - 1)) headerId.set(value, i)
      else headerId.clear()
    } else if (kind >= 3) {
      if (hasEscapeIn(value, i)) return 0
      // The second would win.
      if (kind === 4 && !trace.isEmpty) return 0
      if (kind === 4 && isText && isTraceparent(value + 1)) setTrace(value + 1)
      else {
        // B3 may need two headers.
        others += kind === 3 ? 2 : 1
        otherTrace.set(value, i)
      }
    } else if (hasEscapeIn(from, value)) return 0 // an escaped name may be one of these
    i = afterMember(i)
    if (i === 0) return 0
    if (isClosed) break
  }
  if (others > 0 && trace.isEmpty) {
    if (others > 1 || !hasAnswer(Question.TRACE, otherTrace.start, otherTrace.end)) return 0
    takeText(trace)
    takeText(traceId)
  }
  return i
}

/** W3C Trace Context, see `TRACEPARENT`: 2, 32, 16 and 2 digits in lower case. The ids have other digits than 0. */
function isTraceparent(at: usize): bool {
  if (load<u8>(at) === 0x66 && load<u8>(at + 1) === 0x66) return false
  let hasTrace = false
  let hasSpan = false
  for (let i: usize = 0; i < 55; i++) {
    const c = load<u8>(at + i)
    if (i === 2 || i === 35 || i === 52) {
      if (c !== 0x2d) return false
    } else if (!((c >= 0x30 && c <= 0x39) || (c >= 0x61 && c <= 0x66))) return false
    else if (i > 2 && i < 35 && c !== 0x30) hasTrace = true
    else if (i > 35 && i < 52 && c !== 0x30) hasSpan = true
  }
  const after = load<u8>(at + 55)
  return hasTrace && hasSpan && (after === 0x2d || after === 0x22)
}

/** The ids in the order of the header. */
function setTrace(at: usize): void {
  const start = beginText()
  put('{"trace_id":"')
  copy(at + 3, at + 35)
  put('","parent_span_id":"')
  copy(at + 36, at + 52)
  put('"}')
  trace.set(start, endText())
  traceId.set(at + 3, at + 35)
}

/** See `HEADER_ID`, without the colon. */
function isHeaderId(from: usize, to: usize): bool {
  if (to === from || to - from > 200) return false
  for (let i = from; i < to; i++) {
    const c = load<u8>(i)
    const l = c | 0x20
    if (!((l >= 0x61 && l <= 0x7a) || (c >= 0x30 && c <= 0x39) || c === 0x5f || c === 0x2e || c === 0x2d)) return false
  }
  return true
}

/** Whether there is any part of a request apart from its response. */
export function hasStart(): bool {
  return !method.isEmpty || !url.isEmpty || !ip.isEmpty || !userAgent.isEmpty
}

export function hasAny(): bool {
  return hasStart() || !status.isEmpty
}

export function putRequest(duration: Range): void {
  put(',"request":{')
  beginMembers()
  putMember('"method":', method)
  if (!url.isEmpty) {
    putMember('"url":', url)
    separate()
    put('"path":')
    copy(url.start, pathEnd)
    putByte(QUOTE)
  }
  putMember('"ip":', ip)
  putMember('"user_agent":', userAgent)
  putMember('"status_code":', status)
  putMember('"duration_ms":', duration)
  putByte(CLOSE_BRACE)
}
