/** [main] The pattern that a request matched, which only the framework's own objects tell, and only once it is answered. Pure. */

/** Express and its like leave the route on the request; a router that is mounted somewhere has that as `baseUrl`. */
interface ExpressRequest {
  readonly route?: { readonly path?: unknown }
  readonly baseUrl?: unknown
  readonly originalUrl?: unknown
}

/** As far as it is used here: a ServerResponse, what pino made of one, or Fastify's Reply. */
interface Answered {
  readonly raw?: Answered
  readonly req?: ExpressRequest
  readonly request?: { readonly routeOptions?: { readonly url?: unknown } }
}

/** `/users/:id`, or `undefined` where there is no framework, or no route (a 404), or one without a text, as a RegExp. */
export function findRoute(response: unknown): string | undefined {
  if (typeof response !== 'object' || response === null) return undefined
  try {
    const { request: fastify, req, raw } = response as Answered
    if (typeof fastify?.routeOptions?.url === 'string') return fastify.routeOptions.url
    return findExpressRoute(req ?? raw?.req)
  } catch {
    return undefined // getters of a framework, or of anything that is logged as `res`
  }
}

function findExpressRoute(request: ExpressRequest | undefined): string | undefined {
  const path = request?.route?.path
  if (typeof path !== 'string') return undefined
  const base =
    findMountPath(path, request?.originalUrl) ?? (typeof request?.baseUrl === 'string' ? request.baseUrl : '')
  return base !== '' && path === '/' ? base : base + path
}

/** What may match any number of segments, or none. */
const VARIABLE = /[*+?(){}[\]|^$\\]/

/**
 * What the pattern leaves of the URL is where its router is mounted. Express has taken `baseUrl` back when an error is answered outside
 * that router; the URL stays, unless someone rewrites it.
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
