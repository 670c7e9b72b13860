/** Composes the breadcrumb of the record that was read with the kinds of breadcrumbs. */
import * as error from './error'
import { at, beginMembers, copy, hasMembers, put, putByte, putMember, separate, setAt } from './output'
import * as record from './record'
import { Slot, slot } from './record'
import * as request from './request'
import { CLOSE_BRACE, COMMA, QUOTE } from './values'

const MAX_BYTES: usize = 4_096
/** `{` and `,"message":` around the level in an entry's opening. */
const LEVEL_MARGIN: usize = 11

/** Writes it at `to`. Returns false if the line is declined. */
export function putBreadcrumb(to: usize): bool {
  const level = record.level
  if (level === 0 || load<u32>(level, 20) !== 0 || record.time.isEmpty || record.message.isEmpty) return false
  const hasRequest = record.hasReq || record.hasRes
  if ((hasRequest && !request.hasAny()) || hasOthers()) return false
  setAt(to)
  const type = record.hasError ? '"error"' : hasRequest ? '"http"' : '"log"'
  put('{"type":')
  put(type)
  put(',"category":')
  if (record.category.isEmpty) put(type)
  else record.category.put()
  put(',"message":')
  record.message.put()
  putByte(COMMA)
  copy(load<u32>(level, 8) + 1, load<u32>(level, 12) - LEVEL_MARGIN)
  put(',"timestamp":"')
  record.time.put()
  putByte(QUOTE)
  putData(hasRequest)
  putByte(CLOSE_BRACE)
  return at - to <= MAX_BYTES
}

/** Fields that only the reference path knows how to keep. */
function hasOthers(): bool {
  return (
    !record.user.isEmpty ||
    !record.tags.isEmpty ||
    !record.otherId.isEmpty ||
    (record.hasSlots() && !slot(Slot.ACTION).isEmpty)
  )
}

function putData(hasRequest: bool): void {
  const start = at
  put(',"data":{')
  beginMembers()
  if (hasRequest) {
    putMember('"method":', request.method)
    putMember('"url":', request.url)
    putMember('"status_code":', request.status)
    putMember('"duration_ms":', record.duration)
  } else if (!record.duration.isEmpty) {
    putMember('"perf":{"duration_ms":', record.duration)
    putByte(CLOSE_BRACE)
  }
  if (record.hasError) {
    putMember('"error_type":', error.own.type)
    // Equal texts have equal escapes, see `isPlainEscape`.
    if (!error.own.message.equals(record.message)) putMember('"error_message":', error.own.message)
    error.putOthers()
  }
  if (record.metadata.count > 0) {
    separate()
    record.metadata.put()
  }
  if (hasMembers()) putByte(CLOSE_BRACE)
  else setAt(start)
}
