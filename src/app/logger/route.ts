/** [main] Finds the route pattern and the id of a request in the framework's objects. Pure. */

import { isCatchAll } from '../../request-logs/route-pattern.js'

/** Express stores the route on the request, and the mount path of a router as `baseUrl`. */
interface ExpressRequest {
  readonly route?: { readonly path?: unknown }
  readonly baseUrl?: unknown
  readonly originalUrl?: unknown
}

interface FastifyRequest {
  readonly id?: unknown
  readonly routeOptions?: { readonly url?: unknown }
}

/** The used part of a ServerResponse, of pino's serialized form, or of Fastify's Reply. */
interface Answered {
  readonly raw?: Answered
  readonly req?: ExpressRequest
  readonly request?: FastifyRequest
}

/**
 * The route pattern, as `/users/:id`; `undefined` without a framework, without a route (a 404), for a RegExp and for a
 * pattern that matches all paths.
 */
export function findRoute(response: unknown): string | undefined {
  if (typeof response !== 'object' || response === null) return undefined
  try {
    const { request: fastify, req, raw } = response as Answered
    const url = fastify?.routeOptions?.url
    const route = typeof url === 'string' ? url : findExpressRoute(req ?? raw?.req)
    return route === undefined || isCatchAll(route) ? undefined : route
  } catch {
    return undefined // a getter of the framework, or of another object logged as `res`
  }
}

function findExpressRoute(request: ExpressRequest | undefined): string | undefined {
  const path = request?.route?.path
  if (typeof path !== 'string') return undefined
  const base =
    findMountPath(path, request?.originalUrl) ?? (typeof request?.baseUrl === 'string' ? request.baseUrl : '')
  return base !== '' && path === '/' ? base : base + path
}

/** Characters of patterns that may match a variable number of segments. */
const VARIABLE = /[*+?(){}[\]|^$\\]/

/**
 * The mount path is the part of the URL before the pattern. `baseUrl` cannot be used: Express has reset it when an error handler outside
 * the router replies. Finds nothing if the URL was rewritten.
 */
function findMountPath(path: string, url: unknown): string | undefined {
  if (typeof url !== 'string' || VARIABLE.test(path)) return undefined
  const base = splitSegments(url.replace(/[?#].*$/s, ''))
  const pattern = splitSegments(path)
  const matched = base.splice(Math.max(base.length - pattern.length, 0))
  const isMatch = pattern.every(
    (part, index) => part.includes(':') || part.toLowerCase() === matched[index]?.toLowerCase(),
  )
  return isMatch ? base.map((part) => `/${part}`).join('') : undefined
}

function splitSegments(path: string): string[] {
  return path.split('/').filter((part) => part !== '')
}
