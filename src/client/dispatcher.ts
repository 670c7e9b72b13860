/** Connections through undici: limited in number, kept alive, and through a proxy if one is set. */
import type { Dispatcher } from 'undici'
import type { HttpOptions } from './http-types.js'

/** Included in the timeout of the request. */
const CONNECT_TIMEOUT_MS = 3_000
/** Below the idle timeout of most services, because a request on a closed connection fails. */
export const KEEP_ALIVE_MS = 4_000

/** @returns a function that creates a dispatcher with its own connections */
export async function loadDispatchers(options: HttpOptions): Promise<() => Dispatcher> {
  const tls = Object.fromEntries(Object.entries(options.tls ?? {}).filter(([, value]) => value !== undefined))
  const timeout = Math.min(CONNECT_TIMEOUT_MS, options.requestTimeoutMs)
  const settings = {
    connect: { ...tls, timeout },
    connections: options.maxConnections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Off, because a timer limits the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const loadPools = async (): Promise<() => Dispatcher> => {
    // Not at the top, which would delay the start of the worker. All of undici is 111 modules and takes 90 ms; these
    // are 23 modules and take 26 ms.
    const { default: Pool } = await import('undici/lib/dispatcher/pool.js')
    const { default: buildConnector } = await import('undici/lib/core/connect.js')
    const connect = buildConnector(settings.connect) // shared, since it caches TLS sessions
    const { origin } = new URL(options.url)
    const create = (): Dispatcher => new Pool(origin, { ...settings, connect })
    await create().destroy() // fails here if a version has other classes
    return create
  }
  if (options.proxy === undefined || options.proxy === false)
    return loadPools().catch(async () => {
      // The individual modules are no documented interface: a version may lack or change them.
      const { Pool } = await import('undici')
      return () => new Pool(new URL(options.url).origin, settings)
    })
  // The proxy agent uses functions that only the main module of undici adds to its classes.
  const { ProxyAgent } = await import('undici')
  const { address, token } = proxyOf(options.proxy)
  return () =>
    new ProxyAgent({
      ...settings,
      requestTls: settings.connect,
      proxyTls: { timeout }, // the client certificate is for the service, not for the proxy
      uri: address,
      ...(token !== undefined && { token }),
    })
}

/** Separates the credentials, so no error contains the password and the password may contain a literal `%`. */
function proxyOf(proxy: string): { address: string; token?: string } {
  const url = new URL(proxy)
  const { username, password } = url
  url.username = url.password = ''
  if (username === '' && password === '') return { address: url.href }
  const credentials = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64')
  return { address: url.href, token: `Basic ${credentials}` }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text // a literal `%`
  }
}
