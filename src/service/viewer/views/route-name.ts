/** A route in the address: `GET /orders/:id` (pure). */
import type { RequestLog } from '../../../protocol/resources.js'

export interface RouteName {
  readonly method: string
  readonly route: string
}

export function routeText({ method, route }: RouteName): string {
  return `${method} ${route}`
}

/** A method has no space. Null for what names no route. */
export function routeOf(text: string | null): RouteName | null {
  const at = text === null ? -1 : text.indexOf(' ')
  return text === null || at < 0 ? null : { method: text.slice(0, at), route: text.slice(at + 1) }
}

export function isOfRoute(request: RequestLog, { method, route }: RouteName): boolean {
  return request.method === method && (request.route ?? request.path) === route
}

/** The transport puts a tag of its process before short ids, to make them unique; the log entry has the id alone. */
export function entryRequestId(requestId: string): string {
  return /^[0-9a-f]{12}-(.+)$/.exec(requestId)?.[1] ?? requestId
}
