/** What a reply says. Pure. */
import type { IngestResult, IngestResultError } from '../protocol/ingest.js'
import { UNPRINTABLE } from '../unprintable.js'
import type { HttpReply } from './http-types.js'

export { retryAfterMs } from './retry-after.js'

/** The list in a request's body that a reply's positions count in (interface: Endpoints). */
export type ItemList = 'logs' | 'requests'

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
export function parseRejected(text: string, list: ItemList = 'logs'): IngestResultError[] {
  const body = parseObject(text)
  const named = new Map<number, IngestResultError>()
  for (const error of [...resultErrors(body?.['errors']), ...details(body).flatMap((detail) => fromDetail(detail, list))]) {
    if (!named.has(error.index)) named.set(error.index, error)
  }
  return [...named.values()]
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
function fromDetail(detail: Record<string, unknown>, list: ItemList): IngestResultError[] {
  const loc = locOf(detail)
  const at = loc.indexOf(list)
  const index = loc[at + 1]
  if (at === -1 || !isCount(index)) return []
  return [{ index, code: asText(detail['type']), field: loc.slice(at + 2).join('.'), message: asText(detail['msg']) }]
}

/**
 * Whether a `loc` names a place outside the list: a header, or another key of the body. `body` alone, or with a position
 * in its text, names nothing: what cannot be read there may be an entry's.
 */
export function namesElsewhere(text: string, list: ItemList = 'logs'): boolean {
  return details(parseObject(text)).map(locOf).some((loc) =>
    !loc.includes(list) && loc.some((part, at) => typeof part === 'string' && !(part === 'body' && at === 0)))
}

/** Only what a path is made of: joining what is nested without end would end the stack. */
function locOf({ loc }: Record<string, unknown>): (string | number)[] {
  return Array.isArray(loc) ? loc.filter((part) => typeof part === 'string' || typeof part === 'number') : []
}

const MAX_REASON_CHARS = 200

/**
 * One line of at most 200 characters for people: the service's own words, else the status.
 * @param mask is given the words before they are cut, since what is left of a secret at a cut is not found any more
 */
export function reasonOf(reply: HttpReply, mask: (words: string) => string = (words) => words, list: ItemList = 'logs'): string {
  const body = parseObject(reply.text)
  const words = [
    asText(body?.['message']),
    ...resultErrors(body?.['errors']).map(({ index, code, field, message }) => placed(`${list}[${index}]${field && `.${field}`}`, message || code)),
    ...details(body).map((detail) => placed(locOf(detail).join('.'), asText(detail['msg']))),
    asText(body?.['detail']),
    asText(body?.['error']),
  ].filter((part) => part !== '').join('; ')
  const said = mask(words).replace(UNPRINTABLE, ' ').trim().toWellFormed()
  const reason = `status ${reply.status}${said && `: ${said}`}`
  // Not between the halves of a surrogate pair.
  return reason.length <= MAX_REASON_CHARS ? reason : `${reason.slice(0, MAX_REASON_CHARS - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

function placed(place: string, words: string): string {
  return [place, words].filter((part) => part !== '').join(': ')
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
