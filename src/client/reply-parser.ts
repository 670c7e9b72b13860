/** Parses and classifies replies. */
import type { IngestResult, IngestResultError } from '../protocol/ingest-result.js'
import { isObject } from '../shared/argument-checks.js'
import { CONTROL_CHARACTERS } from '../shared/control-characters.js'
import type { HttpReply } from './http-types.js'

/** The list in the body of a request to which positions in a reply refer (interface: Endpoints). */
export type ItemList = 'logs' | 'requests'

export type ReplyKind = 'ok' | 'refused' | 'retryable' | 'endpoint-rejected'

/**
 * - `ok`: 2xx
 * - `refused`: the content was rejected (400, 413, 422)
 * - `retryable`: the request may be sent again (408, 425, 429, 5xx)
 * - `endpoint-rejected`: wrong URL or key: everything else, including redirects
 */
export function classifyStatus(status: number): ReplyKind {
  if (status >= 200 && status < 300) return 'ok'
  if (status === 400 || status === 413 || status === 422) return 'refused'
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'retryable' : 'endpoint-rejected'
}

/**
 * Body of a 2xx that counts as a reply of the service. An empty body always does, since the interface shows no body for
 * most endpoints. So does the start of a JSON object that is too long.
 * - `ingest-result`: an ingest result, or a JSON object without `accepted`
 * - `json`: any JSON value
 * - `text`: anything except a web page
 */
export type ExpectedBody = 'ingest-result' | 'json' | 'text'

/** As `classifyStatus`, but a 2xx with another body than the service's, such as a login page, is `endpoint-rejected`. */
export function classifyReply(reply: HttpReply, expected: ExpectedBody): ReplyKind {
  const kind = classifyStatus(reply.status)
  return kind === 'ok' && !isExpected(reply, expected) ? 'endpoint-rejected' : kind
}

/** Text or comments may be before it. */
const PAGE_START = /<(?:!doctype\s+)?html(?=[\s>])/i
const MAX_PAGE_START_CHARS = 4096

function isExpected({ text, truncated }: HttpReply, expected: ExpectedBody): boolean {
  // Not by the content type, since text/html is the default of many frameworks.
  if (expected === 'text') return !PAGE_START.test(text.slice(0, MAX_PAGE_START_CHARS))
  // A result may quote every rejected entry. Its batch is not sent again, because it would get the same rejection and
  // block the others.
  if (truncated) return /^\ufeff?\s*\{/.test(text)
  if (text.trim() === '') return true
  const body = parseJson(text)
  if (expected === 'json') return body !== undefined
  return isObject(body) && (!Object.hasOwn(body, 'accepted') || parseIngestResult(text) !== undefined)
}

/** The ingest result in a body, or `undefined` (interface: Ingest result). */
export function parseIngestResult(text: string): IngestResult | undefined {
  const body = parseObject(text)
  if (body === undefined || !isCount(body['accepted']) || !isCount(body['rejected'])) return undefined
  return {
    accepted: body['accepted'],
    rejected: body['rejected'],
    message: typeof body['message'] === 'string' ? body['message'] : '',
    errors: resultErrors(body['errors']),
  }
}

/**
 * Whether a result can be that of so many entries. It may count fewer, and its list may name fewer than it counts. It may accept more if
 * it rejects none, since no entry can be lost.
 */
export function canBeResultOf(entries: number, { accepted, rejected, errors }: IngestResult): boolean {
  if (accepted > entries) return rejected === 0 && errors.length === 0
  const counted = accepted + rejected
  const isEmpty = counted === 0 && errors.length === 0
  return counted <= entries && isEmpty === (entries === 0) && errors.every(({ index }) => index < entries)
}

/** The entries that a reply names, in either form of 422 (interface: Errors). */
export function parseRejected(text: string, list: ItemList = 'logs'): IngestResultError[] {
  const body = parseObject(text)
  const named = new Map<number, IngestResultError>()
  for (const error of [
    ...resultErrors(body?.['errors']),
    ...details(body).flatMap((detail) => fromDetail(detail, list)),
  ]) {
    if (!named.has(error.index)) named.set(error.index, error)
  }
  return [...named.values()]
}

function resultErrors(value: unknown): IngestResultError[] {
  if (!Array.isArray(value)) return []
  return value
    .filter(isObject)
    .filter((item) => isCount(item['index']))
    .map((item) => ({
      index: item['index'] as number,
      code: asText(item['code']),
      field: asText(item['field']),
      message: asText(item['message']),
    }))
}

/** `loc` is a path such as `body, logs, 3, level`. */
function fromDetail(detail: Record<string, unknown>, list: ItemList): IngestResultError[] {
  const loc = locOf(detail)
  const at = loc.indexOf(list)
  const index = loc[at + 1]
  if (at === -1 || !isCount(index)) return []
  return [{ index, code: asText(detail['type']), field: loc.slice(at + 2).join('.'), message: asText(detail['msg']) }]
}

/**
 * Whether a `loc` is outside the list: a header, or another key of the body. `body` alone, or with a position in its text, may be due to
 * an entry.
 */
export function hasErrorOutsideList(text: string, list: ItemList = 'logs'): boolean {
  return details(parseObject(text))
    .map(locOf)
    .some(
      (loc) =>
        !loc.includes(list) && loc.some((part, at) => typeof part === 'string' && !(part === 'body' && at === 0)),
    )
}

/** Nested values are ignored, since joining them could overflow the stack. */
function locOf({ loc }: Record<string, unknown>): (string | number)[] {
  return Array.isArray(loc) ? loc.filter((part) => typeof part === 'string' || typeof part === 'number') : []
}

const MAX_REASON_CHARS = 200
/** Enough to recognize a page. */
const MAX_BEGINNING_CHARS = 80
const MAX_TYPE_CHARS = 60

/**
 * One line of at most 200 characters for users: the status and the texts of the service. A 2xx is described only if it
 * is not from the service: by the content type and the start of the body.
 * @param mask applied before texts are cut, since it would not find a part of a secret
 */
export function describeReply(
  reply: HttpReply,
  mask: (text: string) => string = (text) => text,
  list: ItemList = 'logs',
): string {
  const clean = (text: string): string => mask(text).replace(CONTROL_CHARACTERS, ' ').trim().toWellFormed()
  const { status } = reply
  if (classifyStatus(status) === 'ok') return foreignReason(reply, clean)
  const target = findRedirectTarget(reply)
  if (target !== undefined) return cut(`status ${status}: redirects to ${clean(target)}`, MAX_REASON_CHARS)
  const reason = clean(serviceMessage(reply.text, list))
  return cut(`status ${status}${reason && `: ${reason}`}`, MAX_REASON_CHARS)
}

/** Upper limit, because a longer time is probably a mistake. */
const MAX_RETRY_AFTER_MS = 3_600_000

/**
 * The time to wait after a 429 or 503, in milliseconds: seconds, or a date relative to the Date of the reply, since the clocks may
 * differ. Other values are ignored. At most 1 h.
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfterMs(reply: Pick<HttpReply, 'status' | 'headers'>, wallNowMs: number): number | undefined {
  if (reply.status !== 429 && reply.status !== 503) return undefined
  const [value, date] = [reply.headers['retry-after'], reply.headers['date']].map(
    (one) => [one].flat()[0]?.trim() ?? '',
  )
  const waitMs = parseWaitMs(value ?? '', parseHttpDate(date ?? '') ?? wallNowMs)
  return waitMs === undefined ? undefined : Math.min(waitMs, MAX_RETRY_AFTER_MS)
}

/** RFC 9110 defines whole seconds, but some services send fractions. */
function parseWaitMs(value: string, nowMs: number): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  const at = parseHttpDate(value)
  return at === undefined ? undefined : Math.max(at - nowMs, 0)
}

/** `Date.parse` alone accepts "-5" and "try 3 times". */
function parseHttpDate(value: string): number | undefined {
  const at = /^[a-z]{3}, \d\d [a-z]{3} \d{4} \d\d:\d\d:\d\d GMT$/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(at) ? undefined : at
}

/** The target of a 3xx, without user info and query, which may contain secrets. Undefined if there is none. */
export function findRedirectTarget({ status, headers }: HttpReply): string | undefined {
  const location = [headers['location']].flat()[0] ?? ''
  if (status < 300 || status > 399 || location === '') return undefined
  if (!URL.canParse(location)) return location.replace(/[?#].*$/s, '').replace(/^(\/\/)[^/]*@/, '$1')
  const { protocol, host, pathname } = new URL(location)
  return `${protocol}//${host}${pathname}`
}

function serviceMessage(text: string, list: ItemList): string {
  const body = parseObject(text)
  return [
    asText(body?.['message']),
    ...resultErrors(body?.['errors']).map(({ index, code, field, message }) =>
      withPlace(`${list}[${index}]${field && `.${field}`}`, message || code),
    ),
    ...details(body).map((detail) => withPlace(locOf(detail).join('.'), asText(detail['msg']))),
    asText(body?.['detail']),
    asText(body?.['error']),
  ]
    .filter((part) => part !== '')
    .join('; ')
}

function foreignReason({ status, headers, text }: HttpReply, clean: (text: string) => string): string {
  const [type, coding] = ['content-type', 'content-encoding'].map((name) =>
    cut(clean([headers[name] ?? []].flat().join(', ')), MAX_TYPE_CHARS),
  )
  const beginning = cut(clean(text).replace(/\s+/g, ' '), MAX_BEGINNING_CHARS)
  return `status ${status}, ${type || 'no content type'}${coding && ` (${coding})`}${beginning && `: ${beginning}`}`
}

/** Never splits a surrogate pair. */
function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

function withPlace(place: string, text: string): string {
  return [place, text].filter((part) => part !== '').join(': ')
}

function details(body: Record<string, unknown> | undefined): Record<string, unknown>[] {
  return Array.isArray(body?.['detail']) ? (body['detail'] as unknown[]).filter(isObject) : []
}

/** The JSON object in a body, or `undefined`. */
export function parseObject(text: string): Record<string, unknown> | undefined {
  const value = parseJson(text)
  return isObject(value) ? value : undefined
}

/** Returns `undefined` for invalid JSON. RFC 8259, section 8.1: a byte order mark before it may be ignored. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
