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
  throw new ApiError(
    response.status,
    reasonOf(await response.text()) ?? `the service answered with status ${response.status}`,
  )
}

export function urlOf(path: string, parameters: Parameters): string {
  const given = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)]],
  )
  const search = new URLSearchParams(given).toString()
  return `/local/${path}${search === '' ? '' : `?${search}`}`
}

/** The message of a refusal: `{ detail: [{ msg }] }`. */
function reasonOf(text: string): string | undefined {
  try {
    const message: unknown = (JSON.parse(text) as { detail?: { msg?: unknown }[] }).detail?.[0]?.msg
    return typeof message === 'string' ? message : undefined
  } catch {
    // Not the service's JSON: the status is all there is.
    return undefined
  }
}
