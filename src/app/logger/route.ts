/** [main] Finds the route pattern of a request in the framework's objects, once the request is answered. Pure. */

/** Express stores the route on the request, and the mount path of a router as `baseUrl`. */
interface ExpressRequest {
  readonly route?: { readonly path?: unknown }
  readonly baseUrl?: unknown
  readonly originalUrl?: unknown
}

/** The used part of a ServerResponse, of pino's serialized form, or of Fastify's Reply. */
interface Answered {
  readonly raw?: Answered
  readonly req?: ExpressRequest
  readonly request?: { readonly routeOptions?: { readonly url?: unknown } }
}

/** `/users/:id`; `undefined` without a framework, without a route (a 404), and for a RegExp. */
export function findRoute(response: unknown): string | undefined {
  if (typeof response !== 'object' || response === null) return undefined
  try {
    const { request: fastify, req, raw } = response as Answered
    if (typeof fastify?.routeOptions?.url === 'string') return fastify.routeOptions.url
    return findExpressRoute(req ?? raw?.req)
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

/** Characters of patterns that may match any number of segments. */
const VARIABLE = /[*+?(){}[\]|^$\\]/

/**
 * The part of the URL before the pattern is the mount path. Express has reset `baseUrl` if an error is answered outside
 * that router; the URL stays, unless it is rewritten.
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
