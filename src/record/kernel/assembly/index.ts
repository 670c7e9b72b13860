/**
 * The mapping kernel: reads the bytes of lines and writes the bytes of their entries. Never fails: it declines lines.
 */
import { hasAnswer, takeText } from './ask'
import { putBreadcrumb } from './breadcrumb'
import { hasOwnTrace, putEntry } from './entry'
import { mayFollowParam, setForBreadcrumb } from './keys'
import {
  OUTPUT_LIMIT,
  FOUND_ROWS,
  ERROR_SEVERITY,
  RunEnd,
  Flag,
  MAX_LINE_BYTES,
  OPTION,
  OUTPUT,
  Option,
  Question,
  RESULT,
  Result,
  Row,
  RowFlag,
  SIZE_SHIFT,
  Scope,
  Stop,
} from '../../memory'
import { Range, at, put, putByte, resetAnswers, setAt } from './output'
import * as record from './record'
import { Slot, slot } from './record'
import * as request from './request'
import { addRow, findRows, setScope } from './rows'
import * as line from './scan'
import { hasEscapeIn } from './text'
import { CLOSE_BRACE, COMMA, OPEN_BRACE, QUOTE } from './values'

export { hashOf, paramSlot } from './keys'

const NEWLINE: u8 = 10
const RETURN: u8 = 13

const none = new Range()
const answer = new Range()
/** Of the line that `mapLine` read. */
let flags: u32 = 0
let severity: i32 = 0

/**
 * Maps the lines of a text, and writes their entries, comma-separated. Results are in memory.
 *
 * @param limit position after the newline of the last line
 * @param room maximum number of entries @param bytes maximum size of several entries
 * @param admitted severity from which entries are admitted
 * @param stops see `Stop`
 * @param position of `from` in the ring
 * @returns see `RunEnd`
 */
export function run(from: usize, limit: usize, room: i32, bytes: i32, admitted: i32, stops: u32, position: f64): i32 {
  let filtered = 0
  let refused = 0
  let entries = 0
  let highest = 0
  let end: usize = OUTPUT
  let reason = RunEnd.LIMIT
  let i = from
  while (i < limit && entries < room) {
    if (load<u8>(i) === NEWLINE) {
      i++
      continue
    }
    if (load<u8>(i) === RETURN && load<u8>(i + 1) === NEWLINE) {
      i += 2
      continue
    }
    const start = entries === 0 ? end : end + 1
    setAt(start)
    if (((stops & Stop.MAYBE_WRAPPED) !== 0 && mayBeWrapped(i)) || !mapLine(i, limit, stops)) {
      reason = RunEnd.DECLINED
      break
    }
    const place = position + <f64>(i - from)
    const size = line.textEnd - i
    const next = line.lineEnd + 1
    const level = severity
    const rowFlags: u32 = (flags & (Flag.HEADER | Flag.URL_SECRET)) === 0 ? RowFlag.FREE_OF_SECRETS : 0
    const hasEntry = at !== start
    const isRefused = hasEntry && max(level, 0) < admitted
    const isError = hasEntry && level >= ERROR_SEVERITY && load<i32>(OPTION, Option.BREADCRUMB_LIMIT) > 0
    const isStopped = isStop(stops, hasEntry)
    const isFull = !isStopped && isError && !appendBreadcrumbs(start, place)
    // The answers of the line are overwritten.
    if (isFull) none.storeAt(RESULT + Result.TRACE)
    if (isFull || isStopped) {
      store<u32>(RESULT, <u32>start, Result.ENTRY_START)
      store<u32>(RESULT, <u32>at, Result.ENTRY_END)
      reason = RunEnd.STOPPED
      break
    }
    if (hasEntry && entries !== 0 && at - OUTPUT > <usize>bytes) break
    if (isRefused) refused++
    else if (!hasEntry) filtered++
    else {
      if (entries !== 0) store<u8>(end, COMMA)
      end = at
      entries++
      highest = max(highest, level)
    }
    const isRow = level >= load<i32>(OPTION, Option.BREADCRUMB_THRESHOLD)
    if (isRow || isError) {
      addRow(place, i, size, rowFlags | (isError ? RowFlag.TOOK : 0) | (isRow ? 0 : RowFlag.NOT_A_BREADCRUMB))
    }
    i = next
  }
  store<i32>(RESULT, filtered, Result.FILTERED)
  store<i32>(RESULT, refused, Result.REFUSED)
  store<i32>(RESULT, entries, Result.ENTRIES)
  store<i32>(RESULT, highest, Result.HIGHEST)
  store<u32>(RESULT, <u32>end, Result.OUTPUT_END)
  store<u32>(RESULT, <u32>i, Result.NEXT)
  return reason
}

/** Keys of wrappers begin with `id`, `log`, `message`, `_` or a capital letter, see `LineUnwrapper`. */
function mayBeWrapped(from: usize): bool {
  const start = load<u32>(from)
  if ((start & 0xffff) !== 0x227b) return true // {"
  const c = load<u8>(from, 2)
  const pair = start >>> 16
  return c === 0x5f || (c >= 0x41 && c <= 0x5a) || pair === 0x6469 || pair === 0x6f6c || pair === 0x656d
}

/** Whether the run stops at the line that was read. It also stops if breadcrumbs do not fit. */
function isStop(stops: u32, hasEntry: bool): bool {
  if ((stops & Stop.EVERY_LINE) !== 0) return true
  if (hasEntry && (flags & (Flag.HEADER | Flag.URL_SECRET)) !== 0) return true
  return isRequestStop(stops)
}

function isRequestStop(stops: u32): bool {
  const part: u32 = (flags & Flag.HAS_STATUS) === 0 ? Stop.REQUEST_START : Stop.REQUEST_END
  return (flags & Flag.IS_JOINABLE) !== 0 && (stops & (Stop.EVERY_LINE | part)) !== 0
}

function scanLine(from: usize, limit: usize): bool {
  return load<u8>(from) === OPEN_BRACE && line.scan(from, min(limit, from + MAX_LINE_BYTES)) && !line.isSuspect
}

/** Maps a line. Writes its entry if it reaches the threshold, or if it is one half of a request that JavaScript joins. Returns false if the line is declined. */
function mapLine(from: usize, limit: usize, stops: u32): bool {
  setForBreadcrumb(false)
  if (!scanLine(from, limit) || !record.readRecord(from)) return false
  if (record.level === 0 || record.time.isEmpty || record.message.isEmpty) return false
  // The reference path would use the error's message.
  if (record.hasError && record.message.isEmptyText) return false
  const hasRequest = record.hasReq || record.hasRes
  if (hasRequest && !request.hasAny()) return false
  flags = 0
  const own = record.hasSlots() ? slot(Slot.REQUEST) : none
  own.storeAt(RESULT + Result.OWN_REQUEST)
  if (hasRequest) {
    flags |= Flag.HAS_REQUEST
    if (request.hasStart()) flags |= Flag.HAS_START
    if (!request.status.isEmpty) flags |= Flag.HAS_STATUS
    if (!own.isEmpty && (flags & (Flag.HAS_START | Flag.HAS_STATUS)) !== 0) flags |= Flag.IS_JOINABLE
  }
  const keepsId = record.placeRequestId()
  record.placeOtherId()
  if (!findScope()) return false
  flags |= findSecrets(from, hasRequest)
  store<u32>(RESULT, flags, Result.FLAGS)
  severity = load<i32>(record.level, 4)
  store<i32>(RESULT, severity, Result.SEVERITY)
  const start = at
  // JavaScript joins the entry of one part of a request with that of the other, see `RequestJoiner`.
  const isHalf =
    (flags & Flag.IS_JOINABLE) !== 0 && ((flags & Flag.HAS_START) !== 0) !== ((flags & Flag.HAS_STATUS) !== 0)
  if (
    (isHalf && isRequestStop(stops)) ||
    severity >= load<i32>(OPTION + (hasRequest ? Option.REQUEST_THRESHOLD : Option.THRESHOLD))
  ) {
    putEntry(keepsId)
    putByte(CLOSE_BRACE)
  }
  // The reference path shortens the entry.
  return at - start <= <usize>load<u32>(OPTION, Option.MAX_ENTRY_BYTES)
}

/** Sets the scope of the record, see `chooseScope` in `../../scope.ts`. Returns false if its id has an escape. */
function findScope(): bool {
  const hasSlots = record.hasSlots()
  const isOwn = hasOwnTrace()
  const trace = isOwn ? slot(Slot.TRACE) : record.hasReq ? request.traceId : none
  const requestId = hasSlots ? slot(Slot.REQUEST) : none
  const session = hasSlots ? slot(Slot.SESSION) : none
  trace.storeAt(RESULT + Result.TRACE)
  ;(hasSlots ? slot(Slot.FINGERPRINT) : none).storeAt(RESULT + Result.FINGERPRINT)
  let kind: u32 = Scope.PROCESS
  let id = none
  if (!isBlank(trace) && (isOwn || isBlank(requestId))) {
    kind = Scope.TRACE
    id = trace
  } else if (!isBlank(requestId)) {
    kind = Scope.REQUEST
    id = requestId
  } else if (!isBlank(session)) {
    kind = Scope.SESSION
    id = session
  }
  setScope(kind, id)
  return id.isEmpty || !hasEscapeIn(id.start, id.end)
}

function isBlank(id: Range): bool {
  return id.isEmpty || (id.isEmptyText && load<u8>(id.start) === QUOTE)
}

/** Appends the breadcrumbs of the scope to the entry from `start` up to `at`. Returns false if they do not fit. */
function appendBreadcrumbs(start: usize, position: f64): bool {
  const rows = findRows(position)
  if (rows === 0) return true
  const closing = at - 1
  const limit = min(start + <usize>load<u32>(OPTION, Option.MAX_ENTRY_BYTES), OUTPUT_LIMIT) - 2
  setAt(closing)
  put(',"breadcrumbs":[')
  for (let i = rows - 1; i >= 0; i--) {
    putRow(load<u32>(FOUND_ROWS + ((<usize>i) << 2)))
    putByte(i === 0 ? 0x5d : COMMA)
    if (at > limit) {
      setAt(closing)
      putByte(CLOSE_BRACE)
      return false
    }
  }
  putByte(CLOSE_BRACE)
  return true
}

/** As `appendBreadcrumbs`, for the line at which the run stopped. Returns the end of the entry; 0 if they do not fit. */
export function attach(position: f64): usize {
  setAt(load<u32>(RESULT, Result.ENTRY_END))
  return appendBreadcrumbs(load<u32>(RESULT, Result.ENTRY_START), position) ? at : 0
}

function putRow(row: usize): void {
  const size = load<u32>(row, Row.SIZE_AND_FLAGS)
  const to = at
  if (
    (size & RowFlag.FREE_OF_SECRETS) !== 0 &&
    mapBreadcrumb(load<u32>(row, Row.ADDRESS), size >> SIZE_SHIFT, to) !== 0
  )
    return
  resetAnswers()
  hasAnswer(Question.BREADCRUMB, row, row)
  takeText(answer)
  setAt(to)
  answer.put()
}

/** Maps a line to a breadcrumb, which is written at `to`. Returns the position after it; 0 if it is declined. */
export function mapBreadcrumb(from: usize, bytes: usize, to: usize): usize {
  setForBreadcrumb(true)
  const end = from + bytes
  const limit = load<u8>(end) === RETURN ? end + 2 : end + 1
  return scanLine(from, limit) && record.readRecord(from) && putBreadcrumb(to) ? at : 0
}

/** Whether the sent parts of the line may have secrets. */
function findSecrets(from: usize, hasRequest: bool): u32 {
  let found: u32 = line.hasUserinfo || line.hasPercent ? Flag.URL_SECRET : 0
  for (let i = 0; i < line.hits; i++) {
    const place = line.hitAt(i)
    if (hasRequest && isUnsent(place)) continue
    if (load<u8>(place) !== 0x3d) found |= Flag.HEADER
    else if ((found & Flag.URL_SECRET) === 0 && mayFollowParam(place, from)) found |= Flag.URL_SECRET
  }
  // The places of further ones are not known.
  return line.hits === line.MAX_HITS ? found | Flag.HEADER | Flag.URL_SECRET : found
}

/** Whether the position is within headers, except the user agent. */
function isUnsent(place: usize): bool {
  const headers = RESULT + Result.HEADERS
  if (place > load<u32>(headers, 8) && place < load<u32>(headers, 12)) return true
  if (place <= load<u32>(headers) || place >= load<u32>(headers, 4)) return false
  return place <= load<u32>(headers, 16) || place >= load<u32>(headers, 20)
}
