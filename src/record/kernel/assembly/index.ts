/** The mapping kernel: reads the bytes of one line and writes the bytes of its entry. Never fails: it declines lines. */
import { putBreadcrumb } from './breadcrumb'
import { hasOwnTrace, putEntry, usesName } from './entry'
import { mayFollowParam, setForBreadcrumb } from './keys'
import { Flag, OPTION, OUTPUT, Option, RESULT, Result } from './memory'
import { Range, at, putByte, setAt } from './output'
import * as record from './record'
import { Slot, slot } from './record'
import * as request from './request'
import * as line from './scan'
import { OPEN_BRACE } from './values'

export { hashOf, paramSlot } from './keys'

const DECLINED: i32 = 0
const MAPPED: i32 = 1

const none = new Range()

function setRange(result: usize, range: Range): void {
  range.storeAt(RESULT + result)
}

/** Whether the range is one line that may be mapped. */
function scanLine(from: usize, limit: usize): bool {
  return load<u8>(from) === OPEN_BRACE && line.scan(from, limit) && line.lineEnd + 1 === limit && !line.isSuspect
}

/** Maps a line. Results are in memory. @param limit position after its newline */
export function map(from: usize, limit: usize): i32 {
  setForBreadcrumb(false)
  if (!scanLine(from, limit) || !record.readRecord(from)) return DECLINED
  if (record.level === 0 || record.time.isEmpty || record.message.isEmpty) return DECLINED
  // The reference path would use the error's message.
  if (record.hasError && record.message.isEmptyText && !record.isBareMessage) return DECLINED
  const hasRequest = record.hasReq || record.hasRes
  if (hasRequest && !request.hasAny()) return DECLINED
  if (!record.name.isEmpty && !usesName() && load<u32>(OPTION, Option.HAS_NAME) !== 0) return DECLINED
  let flags: u32 = 0
  if (hasRequest) {
    flags |= Flag.HAS_REQUEST
    if (request.hasStart()) flags |= Flag.HAS_START
    if (!request.status.isEmpty) flags |= Flag.HAS_STATUS
  }
  const own = record.hasSlots() ? slot(Slot.REQUEST) : none
  setRange(Result.OWN_REQUEST, own)
  const isPart = !own.isEmpty && hasRequest && ((flags & Flag.HAS_START) !== 0) !== ((flags & Flag.HAS_STATUS) !== 0)
  const keepsId = record.placeRequestId()
  record.placeOtherId()
  if (hasOwnTrace()) flags |= Flag.OWN_TRACE
  const hasSlots = record.hasSlots()
  setRange(Result.TRACE, hasOwnTrace() ? slot(Slot.TRACE) : record.hasReq ? request.traceId : none)
  setRange(Result.REQUEST, hasSlots ? slot(Slot.REQUEST) : none)
  setRange(Result.SESSION, hasSlots ? slot(Slot.SESSION) : none)
  setRange(Result.FINGERPRINT, hasSlots ? slot(Slot.FINGERPRINT) : none)
  flags |= findSecrets(from, hasRequest)
  store<u32>(RESULT, flags, Result.FLAGS)
  const severity = load<i32>(record.level, 4)
  store<i32>(RESULT, severity, Result.SEVERITY)
  setAt(OUTPUT)
  if (isPart || severity >= load<i32>(OPTION + (hasRequest ? Option.REQUEST_THRESHOLD : Option.THRESHOLD))) {
    putEntry(keepsId)
    putByte(0x7d)
  }
  store<u32>(RESULT, <u32>OUTPUT, Result.START)
  store<u32>(RESULT, <u32>at, Result.END)
  return MAPPED
}

/** As `map`, for a breadcrumb, which is written at `to`. */
export function mapBreadcrumb(from: usize, limit: usize, to: usize): i32 {
  setForBreadcrumb(true)
  if (!scanLine(from, limit) || !record.readRecord(from) || !putBreadcrumb(to)) return DECLINED
  store<u32>(RESULT, <u32>at, Result.END)
  return MAPPED
}

/** Whether the sent parts of the line may have secrets. */
function findSecrets(from: usize, hasRequest: bool): u32 {
  let flags: u32 = line.hasUserinfo || line.hasPercent ? Flag.URL_SECRET : 0
  for (let i = 0; i < line.hits; i++) {
    const place = line.hitAt(i)
    if (hasRequest && isUnsent(place)) continue
    if (load<u8>(place) !== 0x3d) flags |= Flag.HEADER
    else if ((flags & Flag.URL_SECRET) === 0 && mayFollowParam(place, from)) flags |= Flag.URL_SECRET
  }
  // The places of further ones are not known.
  return line.hits === line.MAX_HITS ? flags | Flag.HEADER | Flag.URL_SECRET : flags
}

/** Whether the position is within headers, except the user agent. */
function isUnsent(place: usize): bool {
  const headers = RESULT + Result.HEADERS
  if (place > load<u32>(headers, 8) && place < load<u32>(headers, 12)) return true
  if (place <= load<u32>(headers) || place >= load<u32>(headers, 4)) return false
  return place <= load<u32>(headers, 16) || place >= load<u32>(headers, 20)
}
