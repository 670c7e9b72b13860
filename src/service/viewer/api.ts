/** Sends requests to the service's JSON API with the token. */
import { ApiError } from './api-error.js'
import { acceptToken, access, refuseToken } from './access-token.js'

export type Parameters = Readonly<Record<string, string | number | undefined>>

export { ApiError }

/** @throws ApiError for an error reply, TypeError if the service is unreachable */
export async function get<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const response = await request(path, parameters, {}, signal)
  return (await response.json()) as T
}

/** @param body sent as JSON @throws the same errors as `get` */
export async function post<T>(path: string, body: unknown, signal: AbortSignal): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return (await (await request(path, {}, headers, signal, 'POST', JSON.stringify(body))).json()) as T
}

/** Deletes all stored records. @throws the same errors as `get` */
export async function reset(): Promise<void> {
  await request('reset', {}, {}, undefined, 'POST')
}

/** @throws the same errors as `get` */
export async function request(
  path: string,
  parameters: Parameters,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
  method = 'GET',
  body: string | null = null,
): Promise<Response> {
  const { token } = access.value
  const response = await fetch(createUrl(path, parameters), {
    method,
    body,
    headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
    cache: 'no-store',
    ...(signal !== undefined && { signal }),
  })
  if (response.ok) {
    acceptToken(token)
    return response
  }
  if (response.status === 401) refuseToken(token)
  throw createError(response.status, await response.text())
}

function createUrl(path: string, parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = new URLSearchParams(given).toString()
  return `/local/${path}${search === '' ? '' : `?${search}`}`
}

interface Refusal {
  readonly msg?: unknown
  readonly type?: unknown
  readonly position?: number
  readonly length?: number
}

/** Parses an error reply: `{ detail: [{ msg, type, position, length }] }`; only query errors have the last two. */
function createError(status: number, text: string): ApiError {
  const { msg, type, position, length = 0 } = readRefusal(text)
  const range = type === 'QUERY' && position !== undefined ? { position, length } : undefined
  const message = typeof msg === 'string' ? msg.replace(/^q: /, '') : `the service answered with status ${status}`
  return new ApiError(status, message, range)
}

function readRefusal(text: string): Refusal {
  try {
    return (JSON.parse(text) as { detail?: Refusal[] }).detail?.[0] ?? {}
  } catch {
    // The body is not the service's JSON, so only the status is known.
    return {}
  }
}
