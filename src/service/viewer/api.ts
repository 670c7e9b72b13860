/** Requests to the service's JSON API, with its token. */
import { ApiError } from './api-error.js'
import { access, refuseToken } from './access-token.js'

export type Parameters = Readonly<Record<string, string | number | undefined>>

export { ApiError }

/** @throws ApiError if the service refuses, TypeError if it cannot be reached */
export async function get<T>(path: string, parameters: Parameters = {}, signal?: AbortSignal): Promise<T> {
  const response = await request(path, parameters, {}, signal)
  return (await response.json()) as T
}

/** @throws as `get` */
export async function request(
  path: string,
  parameters: Parameters,
  headers: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<Response> {
  const { token } = access.value
  const response = await fetch(urlOf(path, parameters), {
    headers: { ...headers, ...(token !== null && { authorization: `Bearer ${token}` }) },
    cache: 'no-store',
    ...(signal !== undefined && { signal }),
  })
  if (response.ok) return response
  if (response.status === 401) refuseToken(token)
  throw createError(response.status, await response.text())
}

export function urlOf(path: string, parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = new URLSearchParams(given).toString()
  return `/local/${path}${search === '' ? '' : `?${search}`}`
}

interface Refusal {
  readonly msg?: unknown
  readonly type?: unknown
  readonly position?: unknown
  readonly length?: unknown
}

/** From a refusal: `{ detail: [{ msg, type, position, length }] }`, the last two for a query. */
function createError(status: number, text: string): ApiError {
  const { msg, type, position, length } = readRefusal(text)
  const range = type === 'QUERY' ? { position: Number(position), length: Number(length) } : undefined
  return new ApiError(status, typeof msg === 'string' ? msg : `the service answered with status ${status}`, range)
}

function readRefusal(text: string): Refusal {
  try {
    return (JSON.parse(text) as { detail?: Refusal[] }).detail?.[0] ?? {}
  } catch {
    // Not the service's JSON: the status is all there is.
    return {}
  }
}
