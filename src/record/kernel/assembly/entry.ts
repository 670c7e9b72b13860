/** Composes the entry of the record that was read. */
import * as error from './error'
import { Option } from '../../memory'
import {
  Range,
  at,
  beginMembers,
  copy,
  hasMembers,
  hasOption,
  put,
  putByte,
  putMember,
  putOption,
  separate,
  setAt,
} from './output'
import * as record from './record'
import { Slot, slot } from './record'
import * as request from './request'
import { CLOSE_BRACE, COMMA, QUOTE } from './values'

function putField(opening: string, own: Range, fallback: usize): void {
  if (own.isEmpty && !hasOption(fallback)) return
  put(opening)
  if (own.isEmpty) putOption(fallback)
  else own.put()
}

function putId(id: Range): void {
  if (load<u8>(id.start) === QUOTE) return id.put()
  putByte(QUOTE)
  id.put()
  putByte(QUOTE)
}

function putSlot(opening: string, i: i32): void {
  const id = slot(i)
  if (id.isEmpty) return
  put(opening)
  putId(id)
}

/** Whether pino's `name` becomes the service: neither the record nor the options have one. */
function usesName(): bool {
  return !record.name.isEmpty && record.service.isEmpty && !hasOption(Option.SERVICE)
}

/** Writes the entry without its closing brace. @param keepsId whether the id within `req` is kept in the metadata */
export function putEntry(keepsId: bool): void {
  const level = record.level
  copy(load<u32>(level, 8), load<u32>(level, 12))
  record.message.put()
  put(',"timestamp":"')
  record.time.put()
  putByte(QUOTE)
  putIdentity()
  if (record.hasReq || record.hasRes) request.putRequest(record.duration)
  else if (!record.duration.isEmpty) {
    put(',"perf":{"duration_ms":')
    record.duration.put()
    putByte(CLOSE_BRACE)
  }
  if (!record.user.isEmpty) {
    put(',"user":')
    record.user.put()
  }
  if (record.hasError) error.putError()
  putSlots()
  putOption(Option.DEPLOY)
  if (record.tags.isEmpty) putOption(Option.TAGS)
  else {
    put(',"tags":')
    record.tags.put()
  }
  putMetadata(keepsId)
}

function putIdentity(): void {
  const isNamed = usesName()
  if (!isNamed && record.service.isEmpty && record.environment.isEmpty && record.version.isEmpty)
    return putOption(Option.IDENTITY)
  if (isNamed) {
    put(',"service":')
    record.name.put()
  } else putField(',"service":', record.service, hasOption(Option.SERVICE) ? Option.SERVICE : Option.FALLBACK)
  putField(',"environment":', record.environment, Option.ENVIRONMENT)
  putField(',"version":', record.version, Option.VERSION)
}

function putSlots(): void {
  const hasSlots = record.hasSlots()
  if (hasSlots) {
    putSlot(',"user_id":', Slot.USER)
    putSlot(',"session_id":', Slot.SESSION)
  }
  if (hasSlots && !slot(Slot.RELEASE).isEmpty) putSlot(',"release_id":', Slot.RELEASE)
  else if (hasOption(Option.RELEASE)) {
    put(',"release_id":')
    putOption(Option.RELEASE)
  }
  if (hasSlots) {
    putSlot(',"request_id":', Slot.REQUEST)
    putSlot(',"action":', Slot.ACTION)
    putSlot(',"source":', Slot.SOURCE)
    putSlot(',"fingerprint":', Slot.FINGERPRINT)
  }
  if (record.hasError) {
    if (!error.source.isEmpty && (!hasSlots || slot(Slot.SOURCE).isEmpty)) {
      put(',"source":"')
      error.source.put()
      putByte(QUOTE)
    }
    if (!error.fingerprint.isEmpty && (!hasSlots || slot(Slot.FINGERPRINT).isEmpty)) {
      put(',"fingerprint":')
      error.fingerprint.put()
    }
  }
  putTrace()
}

export function hasOwnTrace(): bool {
  return record.hasSlots() && !(slot(Slot.TRACE).isEmpty && slot(Slot.SPAN).isEmpty && slot(Slot.PARENT).isEmpty)
}

function putTrace(): void {
  if (hasOwnTrace()) {
    put(',"trace":{')
    putSlot('"trace_id":', Slot.TRACE)
    const hasTrace = !slot(Slot.TRACE).isEmpty
    putSlot(hasTrace ? ',"span_id":' : '"span_id":', Slot.SPAN)
    const hasIds = hasTrace || !slot(Slot.SPAN).isEmpty
    putSlot(hasIds ? ',"parent_span_id":' : '"parent_span_id":', Slot.PARENT)
    putByte(CLOSE_BRACE)
  } else if (record.hasReq && !request.trace.isEmpty) {
    put(',"trace":')
    request.trace.put()
  }
}

function putMetadata(keepsId: bool): void {
  const start = at
  put(',"metadata":{')
  beginMembers()
  if (record.metadata.count > 0) {
    separate()
    record.metadata.put()
  }
  if (!record.userRest.isEmpty) {
    putMember('"user":{', record.userRest)
    putByte(CLOSE_BRACE)
  }
  const level = record.level
  if (load<u32>(level, 20) !== 0) {
    separate()
    copy(load<u32>(level, 16), load<u32>(level, 20))
  }
  if (!usesName()) putMember('"name":', record.name)
  if (record.hasReq && (request.reqRest.count > 0 || keepsId)) {
    separate()
    put('"req":{')
    request.reqRest.put()
    if (keepsId) {
      if (request.reqRest.count > 0) putByte(COMMA)
      put('"id":')
      request.id.put()
    }
    putByte(CLOSE_BRACE)
  }
  if (record.hasRes && request.resRest.count > 0) {
    separate()
    put('"res":{')
    request.resRest.put()
    putByte(CLOSE_BRACE)
  }
  if (record.hasError) error.putOthers()
  if (hasOption(Option.METADATA)) {
    separate()
    putOption(Option.METADATA)
  }
  if (hasMembers()) putByte(CLOSE_BRACE)
  else setAt(start)
}
