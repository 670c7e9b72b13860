/** Composes the breadcrumb of the record that was read with the kinds of breadcrumbs. */
import * as error from './error'
import { Option, putOption } from './entry'
import { at, copy, put, putByte, setAt } from './output'
import * as record from './record'
import { Slot, slot } from './record'
import * as request from './request'

const MAX_BYTES: usize = 4_096
const QUOTE: u8 = 0x22
const COMMA: u8 = 0x2c
const CLOSE_BRACE: u8 = 0x7d
/** `{` and `,"message":` around the level in an entry's opening. */
const LEVEL_MARGIN: usize = 11

let isFirst = true
function putName(name: string): void {
  if (!isFirst) putByte(COMMA)
  isFirst = false
  put(name)
}

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
  if (record.isBareMessage) putByte(QUOTE)
  record.message.put()
  if (record.isBareMessage) putByte(QUOTE)
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
  isFirst = true
  if (hasRequest) putRequest()
  else if (!record.duration.isEmpty) {
    putName('"perf":{"duration_ms":')
    record.duration.put()
    putByte(CLOSE_BRACE)
  }
  if (record.hasError) putError()
  if (record.metadata.count > 0) {
    putName('')
    record.metadata.put()
  }
  if (isFirst) setAt(start)
  else putByte(CLOSE_BRACE)
}

function putRequest(): void {
  if (!request.method.isEmpty) {
    putName('"method":')
    request.method.put()
  }
  if (!request.url.isEmpty) {
    putName('"url":')
    request.url.put()
  }
  if (!request.status.isEmpty) {
    putName('"status_code":')
    request.status.put()
  }
  if (!record.duration.isEmpty) {
    putName('"duration_ms":')
    record.duration.put()
  }
}

function putError(): void {
  if (!error.type.isEmpty) {
    putName('"error_type":')
    error.type.put()
  }
  // Equal texts have equal escapes, see `isPlainEscape`.
  if (!error.message.isEmpty && !error.message.equals(record.message)) {
    putName('"error_message":')
    error.message.put()
  }
  if (error.hasNote()) {
    putName('')
    putOption(Option.NOTE)
    error.putNote()
  }
  if (error.hasRest()) {
    putName('"error":{')
    error.putRest()
    putByte(CLOSE_BRACE)
  }
}
