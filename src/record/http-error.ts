/**
 * [worker, main] Removes the HTTP exchange from errors of HTTP clients: request and response with headers and bodies,
 * agents, sockets. The error keeps the method, URL and status, and its own members such as code and errno.
 *
 * An exchange is recognized by the shape of its members and by the names of well-known errors, since any wrapper of a
 * client may throw. An application's own `data` or `response` without such a shape is kept.
 */
import type { Json, JsonObject } from '../protocol/log-entry.js'
import { isObject } from '../shared/argument-checks.js'
import { isMarkedNumber } from '../shared/exact-json.js'
import { omitStatementValues } from './statement-values.js'

/** Replaces a member removed before the error became JSON. */
export const OMITTED = '[omitted]'

const MESSAGE_KEYS = [
  'config',
  'options',
  'request',
  'req',
  '_request',
  'response',
  'res',
  '_response',
  '$response',
] as const
/** On an error with a status these are bodies, even without other signs of HTTP. */
const PLAIN_BODY_KEYS = ['body', 'rawBody', 'requestBody', 'responseBody', 'rawResponse']
const BODY_KEYS = PLAIN_BODY_KEYS.concat(
  'data requestData responseData json form formData payload text bodyText responseText result raw rawError rawPacket'.split(
    ' ',
  ),
)
const OTHER_KEYS = [
  'headers',
  'header',
  'rawHeaders',
  'trailers',
  'rawTrailers',
  'cookies',
  'cookieJar',
  'jar',
  'agent',
  'agents',
  'httpAgent',
  'httpsAgent',
  'dispatcher',
  'socket',
  'connection',
  'error',
  'cause', // the parsed body, if they are not errors
]

export const HTTP_MEMBERS: ReadonlySet<string> = new Set([...MESSAGE_KEYS, ...BODY_KEYS, ...OTHER_KEYS])

/** Matches compact JSON that may contain an error or an HTTP message within an error. */
export const MAY_HOLD_HTTP_MESSAGE =
  /"(?:stack(?:_?trace)?|(?:rawH|h)eaders|config|options|re[qs]|_?re(?:quest|sponse)|\$response|httpRequest)":/

/** An object with such a member is an error, a request or a response only if it also has one of these. */
const SIGN =
  /"(?:stack(?:_?trace)?|(?:rawH|h)eaders|httpRequest|isAxiosError|status|statusCode|code)":|(?:Error|Exception)"/

/** Whether compact JSON that is not within an error may contain an error or an HTTP message. */
export function mayContainExchange(json: string): boolean {
  return MAY_HOLD_HTTP_MESSAGE.test(json) && SIGN.test(json)
}

const MESSAGES: ReadonlySet<string | number> = new Set(MESSAGE_KEYS)
const CLIENT_NAME = /^(?:Axios|Gaxios|Fetch|HTTP|Http|Request|RequestRetry|Response|Rest|StatusCode)Error$/
const CLIENT_CODE = /^(?:UND_ERR_|ERR_NON_2XX_3XX_)/
const METHOD = /^(?:get|head|post|put|patch|delete|options|trace|connect|query)$/i
const ERROR_NAME = /(?:Error|Exception)$/

export const INDEX = /^\d+$/

type Holder = Record<string | number, Json>

interface Exchange {
  method?: string
  url?: string
  status?: number
}

export interface HttpMembers {
  readonly omitted: readonly string[]
  /** Method, URL and status of the exchange that the error itself lacks. */
  readonly exchange: Exchange
}

/**
 * The members to remove from `error` if an HTTP client created it.
 *
 * @param given an Error, or one as plain data
 * @param members its members that would be sent, already read: a getter is called once
 */
export function findHttpMembers(given: object, members: object): HttpMembers | undefined {
  const candidates = Object.keys(members).filter((key) => HTTP_MEMBERS.has(key) || INDEX.test(key))
  if (candidates.length === 0) return undefined
  const get = (_: object, key: string): unknown => Reflect.get(Object.hasOwn(members, key) ? members : given, key)
  const error = given === members ? given : new Proxy(given, { get })
  const isClient = isClientError(error)
  const omitted = candidates.filter((key) => {
    const value = read(error, key)
    if (value === undefined || value === null) return false
    if (value === OMITTED) return true
    return INDEX.test(key) ? isCharacter(value) : isClient && !isInnerError(key, value)
  })
  if (omitted.length === 0) return undefined
  const messages = isClient ? MESSAGE_KEYS.map((key) => read(error, key)) : []
  return { omitted, exchange: findExchange(error, messages) }
}

/**
 * Whether the value is a single character: the AWS SDK assigns a text body to the error, which creates a member per
 * character.
 */
function isCharacter(value: unknown): boolean {
  return isText(value) && value.length === 1
}

function isInnerError(key: string, value: unknown): boolean {
  return (
    (key === 'cause' && isText(value)) || ((key === 'cause' || key === 'error') && isNonEmptyText(read(value, 'stack')))
  )
}

/**
 * Removes these members from all errors in a parsed record, and HTTP messages nested in an error, in place and at any
 * depth. The recursion is bounded: a record has at most 32 levels.
 *
 * @returns the number of removed members
 */
export function omitHttpMembers(record: JsonObject, errorKey: string): number {
  // Other loggers, whose output is piped in, write the error's members into the record itself.
  return isText(record['stack']) && (isMessage(record['config'], true) || isMessage(record['options'], true))
    ? omitFromError(record, errorKey)
    : omitWithin(record as Holder, undefined, errorKey)
}

/** @param errorKey undefined unless `error` is the record */
function omitFromError(error: JsonObject, errorKey?: string): number {
  const { omitted, exchange }: HttpMembers = findHttpMembers(error, error) ?? { omitted: [], exchange: {} }
  for (const key of omitted) delete error[key]
  Object.assign(error, exchange)
  return omitted.length + omitWithin(error as Holder, error, errorKey)
}

/** @param owner the error that contains `holder` @param errorKey undefined unless `holder` is the record */
function omitWithin(holder: Holder, owner: JsonObject | undefined, errorKey?: string): number {
  let count = 0
  if (Array.isArray(holder))
    for (let at = 0; at < holder.length; at += 1) count += omitMember(holder, at, owner, errorKey)
  else {
    if (owner !== undefined) omitStatementValues(holder as JsonObject)
    for (const key of Object.keys(holder)) count += omitMember(holder, key, owner, errorKey)
  }
  return count
}

function omitMember(holder: Holder, key: string | number, owner: JsonObject | undefined, errorKey?: string): number {
  const value = holder[key]
  if (typeof value !== 'object' || value === null) return 0
  // Skips the request that the application handles.
  if (errorKey !== undefined && (key === 'req' || key === 'res')) return 0
  if (isErrorData(value, errorKey !== undefined && (key === errorKey || key === 'err' || key === 'error')))
    return omitFromError(value as JsonObject)
  if (owner === undefined || !isMessage(value, MESSAGES.has(key))) return omitWithin(value as Holder, owner)
  Object.assign(owner, findExchange(owner, [value]))
  if (Array.isArray(holder)) holder[Number(key)] = OMITTED
  else delete holder[key]
  return 1
}

/** A value with none of these members is an error only under an error key. */
const ERROR_SIGNS: ReadonlySet<string> = new Set(['stack', 'headers', ...MESSAGE_KEYS])

/**
 * Whether a value is an error: it has a stack or is under the error key. JSON.stringify omits an error's stack and
 * message; then its name decides, or a status or code next to a request or response with headers or a body. Under
 * pino's error key, any sign of an HTTP client suffices, except a status with a URL, which application data may have,
 * too.
 */
function isErrorData(value: JsonObject | Json[], isUnderErrorKey: boolean): boolean {
  if (Array.isArray(value) || (!isUnderErrorKey && !Object.keys(value).some((key) => ERROR_SIGNS.has(key))))
    return false
  if (isText(value['stack']) || isUnderErrorKey)
    return ['message', 'type', 'name'].some((key) => isText(value[key])) || (isUnderErrorKey && hasClientSign(value))
  const messages = MESSAGE_KEYS.filter((key) => isObject(value[key]))
  if (messages.length === 0 && value['headers'] === undefined) return false
  if (['name', 'type'].some((key) => matches(ERROR_NAME, value[key])) || value['isAxiosError'] === true) return true
  if (findStatus(value) === undefined && !isText(value['code'])) return false
  return messages
    .map((key) => value[key] as JsonObject)
    .some((message) => isMessage(message, true) && (hasHeaders(message) || hasBody(message)))
}

function isClientError(error: object): boolean {
  return hasClientSign(error) || (findStatus(error) !== undefined && isText(read(error, 'url')))
}

function hasClientSign(error: object): boolean {
  if (read(error, 'isAxiosError') === true || isText(read(error, 'rawPacket')) || isObject(read(error, 'rawPacket')))
    return true
  if (
    ['name', 'type'].some((key) => matches(CLIENT_NAME, read(error, key))) ||
    matches(CLIENT_CODE, read(error, 'code'))
  )
    return true
  if (
    MESSAGE_KEYS.some((key) => isMessage(read(error, key), true)) ||
    hasHeaders(error) ||
    isObject(read(error, '$metadata'))
  )
    return true
  return findStatus(error) !== undefined && PLAIN_BODY_KEYS.some((key) => read(error, key) !== undefined)
}

/** @param hasMessageKey true if the key suggests an HTTP message; fewer fields are then required */
function isMessage(value: unknown, hasMessageKey: boolean): value is object {
  if (!isObject(value)) return false
  const hasMethod = matches(METHOD, read(value, 'method'))
  const hasUrl = findUrl(value) !== undefined
  const hasStatus = findStatus(value) !== undefined
  if (hasHeaders(value)) return hasMessageKey || hasMethod || hasUrl || hasStatus
  if (!hasMessageKey) return false
  return (
    (hasMethod && hasUrl) ||
    (hasBody(value) && (hasStatus || isText(read(value, 'url')))) ||
    (hasStatus && (hasUrl || isObject(read(value, 'header'))))
  )
}

/** Excludes a list of strings, which may be the header of a table. */
function hasHeaders(holder: object): boolean {
  const headers = read(holder, 'headers')
  return Array.isArray(headers)
    ? headers.some(Array.isArray)
    : isObject(headers) || Array.isArray(read(holder, 'rawHeaders'))
}

function hasBody(message: object): boolean {
  return BODY_KEYS.some((key) => read(message, key) !== undefined)
}

/** Members of a message that lead to the request: `config` of axios' response, `req` of superagent's. */
const INNER_MESSAGES = ['config', 'request', 'req'] as const

/** Method, URL and status that `messages` have and `error` itself does not. */
function findExchange(error: object, messages: readonly unknown[]): Exchange {
  const exchange: Exchange = {}
  const lacksMethod = read(error, 'method') === undefined
  const lacksUrl = read(error, 'url') === undefined
  const lacksStatus = findStatus(error) === undefined
  const add = (message: unknown): void => {
    if (!isObject(message)) return
    const method = read(message, 'method')
    if (lacksMethod && exchange.method === undefined && isText(method)) exchange.method = method
    const url = lacksUrl && exchange.url === undefined ? findUrl(message) : undefined
    if (url !== undefined) exchange.url = url
    const status = lacksStatus && exchange.status === undefined ? findStatus(message) : undefined
    if (status !== undefined) exchange.status = status
  }
  for (const message of messages) add(message)
  for (const message of messages) if (isObject(message)) for (const key of INNER_MESSAGES) add(read(message, key))
  return exchange
}

function findStatus(holder: object): number | undefined {
  const status = read(holder, 'status')
  if (isStatus(status)) return status
  const code = read(holder, 'statusCode')
  return isStatus(code) ? code : undefined
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && value >= 100 && value < 600
}

const URL_KEYS = ['url', 'uri', 'href'] as const

function findUrl(holder: object): string | undefined {
  for (const key of URL_KEYS) {
    const value = read(holder, key)
    const url = isObject(value) ? read(value, 'href') : value
    if (!isNonEmptyText(url) || isMarkedNumber(url)) continue
    const base = read(holder, 'baseURL')
    return isNonEmptyText(base) && !/^(?:[a-z][a-z\d+.-]*:)?\/\//i.test(url)
      ? `${base.replace(/\/$/, '')}/${url.replace(/^\//, '')}`
      : url
  }
  const path = read(holder, 'path')
  if (!isNonEmptyText(path)) return undefined
  const protocol = read(holder, 'protocol')
  const host = read(holder, 'host')
  return isText(protocol) && isText(host) ? `${protocol}//${host}${path}` : path
}

/** A getter of a live object may throw. */
function read(holder: unknown, key: string): unknown {
  if (!isObject(holder)) return undefined
  try {
    return (holder as Record<string, unknown>)[key]
  } catch {
    return undefined
  }
}

function matches(expression: RegExp, value: unknown): boolean {
  return isText(value) && expression.test(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isNonEmptyText(value: unknown): value is string {
  return isText(value) && value !== ''
}
