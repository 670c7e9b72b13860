/**
 * Refuses requests of other web pages. A page can make a browser send requests to a loopback port, and can read the replies if it
 * points its own host name to 127.0.0.1 (DNS rebinding). So `Host` must name a loopback host, and `Origin` this service.
 */
import type { IncomingMessage } from 'node:http'

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** @returns the problem with the request's `Host` or `Origin`; undefined if there is none */
export function findOriginProblem(request: IncomingMessage): string | undefined {
  const { host = '', origin } = request.headers
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host)?.[1]?.toLowerCase() ?? ''
  if (!LOOPBACK_NAMES.includes(name)) {
    return `the Host header must name the loopback interface (${LOOPBACK_NAMES.join(', ')}), got ${quote(host)}`
  }
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return `the Origin header must be that of this service, since other web pages may neither read nor write logs; got ${quote(origin)}`
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
