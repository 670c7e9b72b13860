/** What a reply says. Pure. */
import type { IngestResult, IngestResultError } from '../protocol/ingest.js'
import type { HttpReply } from './http-types.js'

export type ReplyKind = 'ok' | 'refused' | 'later' | 'misconfigured'

/**
 * - `ok`: 2xx
 * - `refused`: the service looked at the content (400, 413, 422)
 * - `later`: the same may be sent again (408, 425, 429, 5xx)
 * - `misconfigured`: wrong address, key or route: everything else, redirects among it
 */
export function replyKind(status: number): ReplyKind {
  if (status >= 200 && status < 300) return 'ok'
  if (status === 400 || status === 413 || status === 422) return 'refused'
  return status === 408 || status === 425 || status === 429 || status >= 500 ? 'later' : 'misconfigured'
}

/** A longer wait is a mistake, or a date of another century. */
const MAX_RETRY_AFTER_MS = 3_600_000

/**
 * The wait that a 429 or 503 asks for, in milliseconds: seconds, or a date read against the reply's own Date, since the
 * two clocks may differ. Of several values the longest counts; what is neither is no wish. At most 1 h.
 * @see RFC 9110, section 10.2.3
 */
export function retryAfterMs(reply: Pick<HttpReply, 'status' | 'headers'>, wallNowMs: number): number | undefined {
  if (reply.status !== 429 && reply.status !== 503) return undefined
  const header = reply.headers['retry-after']
  if (header === undefined) return undefined
  const ownNowMs = Date.parse(first(reply.headers['date']) ?? '')
  const nowMs = Number.isNaN(ownNowMs) ? wallNowMs : ownNowMs
  const waits = [header].flat().flatMap(splitValues).map((value) => waitMs(value, nowMs)).filter((wait) => wait !== undefined)
  return waits.length === 0 ? undefined : Math.min(Math.max(...waits), MAX_RETRY_AFTER_MS)
}

/** Repeated headers may be joined by commas, and a date has one of its own. */
function splitValues(header: string): string[] {
  return header.split(/,(?=\s*\d+\s*(?:,|$))|(?<=\d),/).map((value) => value.trim())
}

function waitMs(value: string, nowMs: number): number | undefined {
  if (/^\d+(?:\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000)
  if (!/[a-z]/i.test(value)) return undefined // Date.parse reads a bare "-5" as a month
  const at = Date.parse(value)
  return Number.isNaN(at) ? undefined : Math.max(at - nowMs, 0)
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** The ingest result in a body, or `undefined` where it is none (interface: Ingest result). */
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

/** The entries that a reply names, in either form of 422 (interface: Errors); empty where it names none. */
export function parseRejected(text: string): IngestResultError[] {
  const body = parseObject(text)
  const named = [...resultErrors(body?.['errors']), ...details(body).flatMap(fromDetail)]
  return named.filter((error, at) => named.findIndex((other) => other.index === error.index) === at)
}

function resultErrors(value: unknown): IngestResultError[] {
  if (!Array.isArray(value)) return []
  return value.filter(isObject).filter((item) => isCount(item['index'])).map((item) => ({
    index: item['index'] as number,
    code: asText(item['code']),
    field: asText(item['field']),
    message: asText(item['message']),
  }))
}

/** `loc` is a path such as `body, logs, 3, level`. */
function fromDetail(detail: Record<string, unknown>): IngestResultError[] {
  const loc: unknown[] = Array.isArray(detail['loc']) ? detail['loc'] : []
  const logs = loc.indexOf('logs')
  const index = loc[logs + 1]
  if (logs === -1 || !isCount(index)) return []
  return [{ index, code: asText(detail['type']), field: loc.slice(logs + 2).join('.'), message: asText(detail['msg']) }]
}

const MAX_REASON_CHARS = 200
/** A reply must not be able to forge lines or steer a terminal. */
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g

/** One line of at most 200 characters for people: the service's own words, else the status. */
export function reasonOf(reply: HttpReply): string {
  const body = parseObject(reply.text)
  const words = [
    asText(body?.['message']),
    ...resultErrors(body?.['errors']).map(({ index, field, message }) => `logs[${index}].${field}: ${message}`),
    ...details(body).map(({ loc, msg }) => `${Array.isArray(loc) ? `${loc.join('.')}: ` : ''}${asText(msg)}`),
    asText(body?.['detail']),
    asText(body?.['error']),
  ].filter((part) => part !== '').join('; ').replace(CONTROL_CHARACTERS, ' ').trim()
  const said = words === '' ? '' : `: ${words}`
  const reason = `status ${reply.status}${said}`
  return reason.length <= MAX_REASON_CHARS ? reason : `${reason.slice(0, MAX_REASON_CHARS - 1)}…`
}

function details(body: Record<string, unknown> | undefined): Record<string, unknown>[] {
  return Array.isArray(body?.['detail']) ? (body['detail'] as unknown[]).filter(isObject) : []
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text) as unknown
    return isObject(value) ? value : undefined
  } catch {
    return undefined // a proxy's page, or nothing: not this service's words
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
