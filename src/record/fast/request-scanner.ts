/** `req` and `res` of pino-http and Fastify, as slices of the line. */
import { HEADER_ID, STATUS, UNSENT_MEMBERS, normalizeMethod } from '../reference/entry-request.js'
import type { JsonObject } from '../../protocol/log-entry.js'
import { MemberCursor, joinMembers } from '../member-cursor.js'
import { TRACE_HEADERS, findTraceHeader, parseTraceHeader } from '../reference/trace-header.js'

/** An integer that is the same as a number and as a string. */
export const PLAIN_INTEGER = /^(?:0|-?[1-9]\d{0,14})$/
/** An integer that a double may not represent exactly, or `-0`. The reference path keeps it in the metadata. */
export const INEXACT_INTEGER = /^(?:-?\d{16,}|-0)$/

const SLASH = 47
const UPPER_Z = 90
/** The path repeats the URL, so this bounds the growth of the entry over its line. */
const MAX_URL_CHARS = 3_000

/** An object with a stack may be an error. */
const STACK_KEYS = ['stack', 'stack_trace', 'stacktrace']
/** Members of `req` that only the reference path maps. */
const REQ_REFERENCE_KEYS: ReadonlySet<string> = new Set([
  ...'path ip user_agent userAgent status_code statusCode duration_ms durationMs'.split(' '),
  ...STACK_KEYS,
])
const RES_REFERENCE_KEYS: ReadonlySet<string> = new Set(['status_code', ...STACK_KEYS])

export class RequestScanner {
  /** Members of the entry's `request`; '' if there are none. */
  request = ''
  /** Method of the request, as JSON; '' if there is none. */
  method = ''
  url = ''
  status = ''
  /** Remaining members of `req` and `res`, as JSON without braces; they go to `metadata.req` and `metadata.res`. */
  reqRest = ''
  resRest = ''
  /** The request's id, raw text without quotes. */
  id = ''
  /** The header `x-request-id`, quoted; '' if there is none. */
  headerId = ''
  /** The entry's `trace` as JSON, from the headers. */
  trace = ''
  /** Its trace-id, raw text without quotes. */
  traceId = ''
  /** Positions of the headers, which are not sent, and of the request's user agent header, which is sent. */
  readonly #unsent = { reqAt: 0, reqEnd: 0, resAt: 0, resEnd: 0, agentAt: 0, agentEnd: 0 }
  #userAgent = ''
  #isIdText = false
  #ip = ''
  readonly #members = new MemberCursor()
  readonly #headers = new MemberCursor()

  reset(): void {
    this.method = this.url = this.status = this.#ip = ''
    const unsent = this.#unsent
    unsent.reqAt = unsent.reqEnd = unsent.resAt = unsent.resEnd = unsent.agentAt = unsent.agentEnd = 0
    this.request = this.reqRest = this.resRest = this.id = this.trace = this.traceId = ''
    this.headerId = this.#userAgent = ''
  }

  /** Whether there is any part of a request apart from its response. */
  get hasStart(): boolean {
    return this.method !== '' || this.url !== '' || this.#ip !== '' || this.#userAgent !== ''
  }

  /** End of the unsent part that contains this position; -1 if the position is sent. */
  unsentEnd(position: number): number {
    const { reqAt, reqEnd, resAt, resEnd, agentAt, agentEnd } = this.#unsent
    if (position > resAt && position < resEnd) return resEnd
    if (position <= reqAt || position >= reqEnd || (position > agentAt && position < agentEnd)) return -1
    return position < agentAt ? agentAt + 1 : reqEnd
  }

  /** Position after the object at `at`, or -1 if it is declined. */
  scanReq(text: string, at: number, end: number): number {
    const member = this.#members.open(text, at, end)
    while (member.next()) {
      const key = member.key()
      if (key === 'headers' && member.isObject()) {
        if (this.#unsent.reqEnd !== 0) return -1 // the second would win
        member.after = this.#scanHeaders(text, member.valueAt, end)
        this.#unsent.reqAt = member.valueAt
        this.#unsent.reqEnd = member.after
        continue
      }
      if (!member.skipValue()) return -1
      switch (key) {
        case 'method':
          if (!member.isText()) return -1
          this.method = normalizeJson(member.value())
          break
        case 'remoteAddress':
          if (!member.isText()) return -1
          this.#ip = member.value()
          break
        case 'url':
          if (!member.isText() || this.url !== '') return -1
          this.url = member.value()
          if (this.url.length > MAX_URL_CHARS) return -1
          break
        case 'id':
          this.id = member.value()
          this.#isIdText = member.isText()
          if (this.id === '""') return -1
          if (this.#isIdText) this.id = this.id.slice(1, -1)
          else if (!PLAIN_INTEGER.test(this.id)) return -1
          break
        default:
          if (UNSENT_MEMBERS.has(key) && !(key === 'headers' && this.#unsent.reqEnd !== 0)) break
          if (key === 'headers' || REQ_REFERENCE_KEYS.has(key) || key.includes('\\')) return -1
          this.reqRest = joinMembers(this.reqRest, member.member())
      }
    }
    if (member.at === -1) return -1 // the reference path keeps an empty object
    const { method, url } = this
    if (method !== '') this.request = joinMembers(this.request, `"method":${method}`)
    if (url !== '') {
      const path = pathSlice(url)
      if (path === '') return -1
      this.request = joinMembers(this.request, `"url":${url},"path":${path}`)
    }
    if (this.#ip !== '') this.request = joinMembers(this.request, `"ip":${this.#ip}`)
    if (this.#userAgent !== '') this.request = joinMembers(this.request, `"user_agent":${this.#userAgent}`)
    return member.closedAt
  }

  /** Keeps the id of `req` in the metadata, because the record has another id. */
  keepId(): void {
    this.reqRest = joinMembers(this.reqRest, this.#isIdText ? `"id":"${this.id}"` : `"id":${this.id}`)
  }

  /** As `scanReq`. */
  scanRes(text: string, at: number, end: number): number {
    let hasOther = false
    const member = this.#members.open(text, at, end)
    while (member.next()) {
      if (!member.skipValue()) return -1
      const key = member.key()
      switch (key) {
        case 'statusCode':
          if (hasOther) return -1
          this.status = member.value()
          if (!PLAIN_INTEGER.test(this.status)) return -1
          break
        case 'status':
          if (hasOther) return -1
          hasOther = true
          if (this.status === '' && STATUS.test(member.value())) this.status = member.value()
          else this.resRest = joinMembers(this.resRest, member.member())
          break
        case 'headers':
          this.#unsent.resAt = member.valueAt
          this.#unsent.resEnd = member.after
          break
        default:
          if (UNSENT_MEMBERS.has(key)) break
          if (RES_REFERENCE_KEYS.has(key) || key.includes('\\')) return -1
          this.resRest = joinMembers(this.resRest, member.member())
      }
    }
    if (member.at === -1) return -1
    if (this.status !== '') this.request = joinMembers(this.request, `"status_code":${this.status}`)
    return member.closedAt
  }

  #readTrace(headers: JsonObject): void {
    const trace = parseTraceHeader(headers['traceparent']) ?? parseTraceHeader(findTraceHeader(headers))
    this.trace = trace === undefined ? '' : JSON.stringify(trace)
    this.traceId = trace?.trace_id ?? ''
  }

  /** Headers are not sent, except those mapped to a field. */
  #scanHeaders(text: string, at: number, end: number): number {
    let traceHeaders: JsonObject | undefined
    const header = this.#headers.open(text, at, end)
    while (header.next()) {
      if (!header.skipValue()) return -1
      // Comparing within the text avoids a string per header.
      const keyChars = header.valueAt - header.at - 3
      if (keyChars === 10 && header.key() === 'user-agent') {
        this.#userAgent = header.isText() ? header.value() : ''
        this.#unsent.agentAt = header.valueAt
        this.#unsent.agentEnd = header.after
      } else if (keyChars === 12 && header.key() === 'x-request-id') {
        this.headerId = header.isText() && HEADER_ID.test(header.value().slice(1, -1)) ? header.value() : ''
      } else {
        const name = findTraceName(text, header.at + 1, keyChars)
        if (name !== undefined) {
          if (header.value().includes('\\')) return -1
          ;(traceHeaders ??= {})[name] = header.isText() ? header.value().slice(1, -1) : null
        } else if (keyChars > 6 && header.key().includes('\\')) return -1 // an escaped name may be one of these
      }
    }
    if (traceHeaders !== undefined) this.#readTrace(traceHeaders)
    return header.closedAt
  }
}

/** The name at `at` of a header with the ids of a trace; undefined for other headers. */
function findTraceName(text: string, at: number, chars: number): string | undefined {
  for (const name of TRACE_HEADERS) if (name.length === chars && text.startsWith(name, at)) return name
  return undefined
}

/** `normalizeMethod` for quoted text; common values are not copied. */
function normalizeJson(method: string): string {
  for (let i = 1; i < method.length - 1; i += 1) {
    if (method.charCodeAt(i) > UPPER_Z) return `"${normalizeMethod(method.slice(1, -1))}"`
  }
  return method
}

/** The quoted path of a quoted URL in origin form; '' for other forms and for a URL with escapes. */
function pathSlice(url: string): string {
  if (url.charCodeAt(1) !== SLASH || url.includes('\\')) return ''
  const query = url.search(/[?#]/)
  return query === -1 ? url : `${url.slice(0, query)}"`
}
