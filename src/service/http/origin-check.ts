/**
 * Which requests come from here. A web page can make a browser send requests to a loopback port, and with a name that
 * it re-points to 127.0.0.1 it can read the answers: so `Host` must name loopback, and `Origin` this very service.
 */
import type { IncomingMessage } from 'node:http'

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** What is wrong with the request's `Host` or `Origin`; undefined where it may go on. */
export function findOriginProblem(request: IncomingMessage): string | undefined {
  const host = request.headers.host ?? ''
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host)?.[1]?.toLowerCase() ?? ''
  if (!LOOPBACK_NAMES.includes(name)) {
    return `the Host header must name the loopback interface (${LOOPBACK_NAMES.join(', ')}), got ${shown(host)}`
  }
  const { origin } = request.headers
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return `the Origin header must be that of this service, since other web pages may neither read logs nor write them; got ${shown(origin)}`
  }
  return undefined
}

function shown(value: string): string {
  return JSON.stringify(value.slice(0, 100))
}
