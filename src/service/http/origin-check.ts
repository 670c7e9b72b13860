/**
 * Refuses requests from other web pages. Any page can make a browser send requests to a loopback port, and can read the replies if its
 * own host name resolves to 127.0.0.1 (DNS rebinding). Therefore `Host` must be a loopback host, and `Origin` must be this service.
 */
import type { IncomingMessage } from 'node:http'

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** @returns a description of the problem with the request's `Host` or `Origin`; undefined if both are valid */
export function findOriginProblem(request: IncomingMessage): string | undefined {
  const { host = '', origin } = request.headers
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host)?.[1]?.toLowerCase() ?? ''
  if (!LOOPBACK_NAMES.includes(name)) {
    return `the Host header must be a loopback host (${LOOPBACK_NAMES.join(', ')}), got ${quote(host)}`
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return `the Origin header must be the origin of this service, because other web pages may not access logs; got ${quote(origin)}`
  }
  return undefined
}

function quote(value: string): string {
  return JSON.stringify(value.slice(0, 100))
}

/** For example `http://127.0.0.1:4319`. */
export function formatOrigin(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`
}
