/**
 * Who may read what is stored. A web page can make a browser send requests to a loopback port, and with a name that
 * it re-points to 127.0.0.1 it can read the answers: so `Host` must name loopback, and `Origin` this very service.
 */
import type { IncomingMessage } from 'node:http'

const LOOPBACK_NAMES: readonly string[] = ['localhost', '127.0.0.1', '[::1]']

/** What is wrong with the request's `Host` or `Origin`; undefined where it may go on. */
export function guardLocal(request: IncomingMessage): string | undefined {
  const host = request.headers.host ?? ''
  const name = /^(\[[^\]]*\]|[^:]*)(?::\d+)?$/.exec(host)?.[1]?.toLowerCase() ?? ''
  if (!LOOPBACK_NAMES.includes(name)) return 'the Host header must name the loopback interface'
  const { origin } = request.headers
  if (origin !== undefined && origin.toLowerCase() !== `http://${host.toLowerCase()}`) {
    return 'the Origin header must be that of this service'
  }
  return undefined
}
