/** undici's connections: bounded, kept alive, and through a proxy where there is one. */
import type { buildConnector, Dispatcher } from 'undici'
import type { HttpOptions } from './http-types.js'
import { verifyListener } from './verify-listener.js'

/** Within the request's own time. */
const CONNECT_TIMEOUT_MS = 3_000
/** A connection that the service has closed unseen costs a failed request; most keep one for longer than this. */
export const KEEP_ALIVE_MS = 4_000

/** @returns makes a dispatcher, with connections of its own */
export async function loadDispatchers(options: HttpOptions): Promise<() => Dispatcher> {
  // Here and not at the top: undici takes about 140 ms and 11 to 27 MB to load, which a worker's start must not pay.
  const { Agent, EnvHttpProxyAgent, buildConnector } = await import('undici')
  const tls = Object.fromEntries(Object.entries(options.tls ?? {}).filter(([, value]) => value !== undefined))
  const timeout = Math.min(CONNECT_TIMEOUT_MS, options.requestTimeoutMs)
  const settings = {
    connect: { ...tls, timeout },
    connections: options.maxConnections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The timer of the whole exchange ends what takes too long.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  if (options.proxy === undefined || options.proxy === false) {
    const plain = buildConnector(settings.connect) // one for all: it remembers TLS sessions
    const connect = options.isLocalDefault === true ? provenConnector(plain, options.url, timeout) : plain
    return () => new Agent({ ...settings, connect })
  }
  const { address, token } = proxyOf(options.proxy)
  return () =>
    new EnvHttpProxyAgent({
      ...settings,
      requestTls: settings.connect,
      proxyTls: { timeout }, // the client certificate is the service's business, not the proxy's
      httpProxy: address,
      httpsProxy: address,
      noProxy: options.noProxy ?? '',
      ...(token !== undefined && { token }),
    })
}

/** On each new connection nothing is sent before the listener has proved itself. */
function provenConnector(connect: buildConnector.connector, url: string, timeoutMs: number): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null || socket === null) return callback(error ?? new Error('no socket'), null)
      verifyListener(socket, url, timeoutMs).then(
        () => callback(null, socket),
        (unproven: Error) => {
          socket.destroy()
          callback(unproven, null)
        },
      )
    })
}

/** Apart, so that no error can quote the password, and a `%` in it that encodes nothing breaks nothing. */
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
    return text // a `%` that stands for itself
  }
}
