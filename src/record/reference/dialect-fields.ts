/** Completes the parts of an entry from the members of other log formats. */
import type { EntryError, EntryRequest, EntryTrace, EntryUser, Json, JsonObject } from '../../protocol/log-entry.js'
import { ifAny, toIdText, toInteger, toNumber, toPlainText } from '../coerce.js'
import type { DialectField, DialectRecord } from './dialects.js'
import { findType, parseStackHead } from './entry-error.js'
import { STATUS, normalizeMethod, toPath } from './entry-request.js'

/** Members of the metadata that the transport uses. */
const METADATA_FIELDS: readonly (readonly [DialectField, (value: Json) => Json | undefined])[] = [
  ['pid', toNumber],
  ['hostname', toPlainText],
  ['name', toPlainText],
  ['route', toPlainText],
]

/** Removes and returns those that the record does not have under the names that the transport uses. */
export function takeMetadata(record: JsonObject, dialect: DialectRecord): JsonObject {
  const taken: JsonObject = {}
  for (const [key, read] of METADATA_FIELDS) {
    const value = dialect.resolve(key, record[key], read)
    if (value !== undefined && record[key] === undefined) taken[key] = value
  }
  return taken
}

export function completeUser(user: EntryUser | undefined, dialect: DialectRecord): EntryUser | undefined {
  if (dialect.isEmpty) return user
  return ifAny({
    id: dialect.resolve('user.id', user?.id, toIdText),
    email: dialect.resolve('user.email', user?.email, toIdText),
    name: dialect.resolve('user.name', user?.name, toIdText),
  })
}

/** @param message the entry's message */
export function completeError(
  error: EntryError | undefined,
  dialect: DialectRecord,
  message: string | undefined,
): EntryError | undefined {
  if (dialect.isEmpty) return error
  const own = {
    type: dialect.resolve('error.type', error?.type, toPlainText),
    message: dialect.resolve('error.message', error?.message, toPlainText),
    // Causes follow the error's own stack.
    stack:
      dialect.resolve('error.stack', error?.stack, toPlainText, (stack, other) => stack.startsWith(other)) ??
      (dialect.isStack(message) ? message : undefined),
  }
  const head = own.stack === undefined ? undefined : parseStackHead(own.stack, own.message)
  return ifAny({ ...own, type: findType(own.type, own) || undefined, message: own.message ?? head?.message })
}

/** Removes and returns the ids of the record's own span. */
export function takeDialectTrace(dialect: DialectRecord): EntryTrace | undefined {
  if (dialect.isEmpty) return undefined
  for (const format of ['trace', 'b3', 'dd'] as const) {
    const ids = ifAny({
      trace_id: dialect.resolve(`${format}.trace_id`, undefined, toIdText),
      span_id: dialect.resolve(`${format}.span_id`, undefined, toIdText),
      parent_span_id: dialect.resolve(`${format}.parent_span_id`, undefined, toIdText),
    })
    if (ids !== undefined) return ids
  }
  return undefined
}

export function completeRequest(request: EntryRequest | undefined, dialect: DialectRecord): EntryRequest | undefined {
  if (dialect.isEmpty || (request !== undefined && namesOther(request, dialect))) return request
  const url = dialect.resolve('request.url', request?.url, toPlainText)
  const path = dialect.resolve('request.path', request?.path ?? toPath(url), toPlainText)
  let fullUrl = url
  dialect.resolve('request.query', undefined, (value) => {
    const query = toPlainText(value)
    if (query === undefined || path === undefined) return undefined
    fullUrl ??= `${path}?${query}`
    return fullUrl.includes(`?${query}`) ? query : undefined
  })
  return ifAny({
    method: dialect.resolve('request.method', request?.method, toMethod),
    url: fullUrl,
    path,
    status_code: dialect.resolve('request.status_code', request?.status_code, toStatus),
    ip: dialect.resolve('request.ip', request?.ip, toPlainText),
    user_agent: dialect.resolve('request.user_agent', request?.user_agent, toPlainText),
    duration_ms: request?.duration_ms,
  })
}

function toMethod(value: Json): string | undefined {
  const method = toPlainText(value)
  return method === undefined ? undefined : normalizeMethod(method)
}

function toStatus(value: Json): number | undefined {
  const status = toInteger(value)
  return STATUS.test(String(status)) ? status : undefined
}

/**
 * Whether the record also describes another request, such as one that the application makes while handling this one.
 */
function namesOther({ method, path }: EntryRequest, dialect: DialectRecord): boolean {
  const isOther = (
    field: DialectField,
    known: string | undefined,
    read: (text: string) => string | undefined,
  ): boolean => {
    let other: string | undefined
    dialect.resolve(field, undefined, (value) => void (other ??= typeof value === 'string' ? read(value) : undefined))
    return known !== undefined && other !== undefined && other !== known
  }
  return isOther('request.method', method, normalizeMethod) || isOther('request.url', path, toPath)
}
