/** Formats an entry's request as a curl command (pure). */
import type { Json, JsonObject, LogEntry } from '../../../protocol/log-entry.js'

/** Paths in the metadata where senders store request headers. */
const HEADER_PATHS = [['req', 'headers'], ['request', 'headers'], ['http', 'request', 'headers'], ['headers']] as const

/** Omitted because the command has no body, and because curl sets the others itself. */
const OMITTED_HEADERS = ['host', 'content-length', 'connection', 'transfer-encoding']

/** Headers with the host that the client asked for. */
const HOST_HEADERS = ['host', ':authority', 'x-forwarded-host']
/** Placeholder for an unknown host. curl refuses it, so the command reaches no other host. */
export const UNKNOWN_HOST = '<host>'

const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** Returns null if neither URL nor path is known. Secrets stay as logged. */
export function formatCurlCommand({ request, metadata }: LogEntry): string | null {
  const target = request?.url ?? request?.path
  if (request === undefined || target === undefined || target === '') return null
  const headers = findHeaders(metadata)
  const url = toUrl(target, HOST_HEADERS.map((name) => textOf(headers[name])).find(isHost))
  const { method = 'GET', user_agent: userAgent } = request
  const parts = ['curl']
  // Otherwise curl treats these characters as patterns.
  if (/[[\]{}]/.test(url)) parts.push('--globoff')
  if (/^head$/i.test(method)) parts.push('--head')
  else if (/^[a-z][a-z-]*$/i.test(method) && !/^get$/i.test(method)) parts.push(`-X ${method.toUpperCase()}`)
  parts.push(quote(url))
  for (const [name, value] of listHeaders(headers, userAgent)) parts.push(`-H ${quote(`${name}: ${value}`)}`)
  return parts.join(' ')
}

function findHeaders(metadata: JsonObject | undefined): JsonObject {
  for (const path of HEADER_PATHS) {
    const found = path.reduce<Json | undefined>((value, key) => (isObject(value) ? value[key] : undefined), metadata)
    if (isObject(found)) return found
  }
  return {}
}

function listHeaders(headers: JsonObject, userAgent: string | undefined): readonly (readonly [string, string])[] {
  const listed = Object.entries(headers).flatMap(([name, value]): (readonly [string, string])[] => {
    const text = textOf(value)
    return text === undefined || !TOKEN.test(name) || OMITTED_HEADERS.includes(name.toLowerCase())
      ? []
      : [[name, toLine(text)]]
  })
  const hasAgent = listed.some(([name]) => name.toLowerCase() === 'user-agent')
  return userAgent === undefined || hasAgent ? listed : [...listed, ['User-Agent', toLine(userAgent)]]
}

function toUrl(target: string, host: string | undefined): string {
  // Percent-encodes control characters, which a terminal would execute when pasted.
  const escaped = target.replace(/[\s\p{Cc}\p{Cf}]/gu, encodeURIComponent)
  if (/^https?:\/\//i.test(escaped)) return escaped
  return `http://${host ?? UNKNOWN_HOST}${escaped.startsWith('/') ? '' : '/'}${escaped}`
}

function isHost(text: string | undefined): boolean {
  return text !== undefined && /^[\w.:[\]-]+$/.test(text)
}

function toLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
}

/** Quotes for POSIX shells: no character is special between single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: Json | undefined): string | undefined {
  if (Array.isArray(value)) return value.filter((one) => typeof one === 'string').join(', ')
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined
}
