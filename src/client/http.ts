/** The one place that talks HTTP. */
import type { Dispatcher } from 'undici'
import { API_KEY_HEADER, CONTENT_TYPE, PATHS } from '../protocol/limits.js'
import { VERSION } from '../version.js'
import { fetchPost } from './http-fetch.js'
import { HttpFailure } from './http-types.js'
import type { Http, HttpReply, HttpRequestInit } from './http-types.js'

export interface HttpOptions {
  /** Base URL without a trailing slash; ends with `/api/v1`. */
  readonly url: string
  readonly apiKey: string
  readonly tls?: TlsOptions | undefined
  /** URL of a proxy; `false` for none. */
  readonly proxy?: string | false | undefined
  /** Hosts that are reached without the proxy, as `NO_PROXY`. */
  readonly noProxy?: string | undefined
  /** Milliseconds for the whole exchange. */
  readonly requestTimeoutMs: number
  readonly maxConnections: number
}

export interface TlsOptions {
  /** PEM. */
  readonly ca?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** Within the request's own time. */
const CONNECT_TIMEOUT_MS = 3_000
/** A result names at most 100 entries; what is longer comes from something else. */
const MAX_REPLY_BYTES = 256 * 1024
/** A connection that the service has closed unseen costs a failed request; most keep one for longer than this. */
const KEEP_ALIVE_MS = 4_000

export function createHttp(options: HttpOptions): Http {
  const base = new URL(options.url)
  const basePath = base.pathname.replace(/\/$/, '')
  let loaded: Promise<Dispatcher> | undefined
  const dispatcher = (): Promise<Dispatcher> => (loaded ??= createDispatcher(options))

  return {
    async post(path, body, init = {}) {
      const place = `POST ${base.origin}${basePath}${shownPath(path)}`
      const ended = new AbortController()
      const abort = (): void => ended.abort()
      let timedOut = false
      const timer = setTimeout(() => {
        timedOut = true
        abort()
      }, options.requestTimeoutMs)
      init.signal?.addEventListener('abort', abort)
      if (init.signal?.aborted === true) abort()
      try {
        const headers = headersFor(options.apiKey, body, init)
        // Bun replaces undici by a shim that knows neither its agents nor its limits.
        if (process.versions['bun'] !== undefined) {
          return await fetchPost(base.origin + basePath + path, { body, headers, signal: ended.signal, maxReplyBytes: MAX_REPLY_BYTES })
        }
        const reply = await (await dispatcher()).request({
          origin: base.origin, path: basePath + path, method: 'POST', headers, body, signal: ended.signal,
        })
        return await readReply(reply)
      } catch (error) {
        if (timedOut) throw new HttpFailure('timeout', `${place}: no reply within ${options.requestTimeoutMs} ms`)
        if (init.signal?.aborted === true) throw new HttpFailure('aborted', `${place}: aborted`)
        // Never the error itself: its properties may hold headers, and a proxy's URL its password.
        throw new HttpFailure('network', `${place}: ${networkReason(error)}`)
      } finally {
        clearTimeout(timer)
        init.signal?.removeEventListener('abort', abort)
      }
    },
    async close() {
      // Not `close()`, which waits for replies that may never come.
      if (loaded !== undefined) await (await loaded).destroy()
    },
  }
}

async function createDispatcher(options: HttpOptions): Promise<Dispatcher> {
  // Here and not at the top: undici takes about 140 ms and 11 to 27 MB to load, which a worker's start must not pay.
  const { Agent, EnvHttpProxyAgent } = await import('undici')
  const tls = Object.fromEntries(Object.entries(options.tls ?? {}).filter(([, value]) => value !== undefined))
  const settings = {
    connections: options.maxConnections,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // The timer of the whole exchange ends what takes too long.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  const connect = { ...tls, timeout: Math.min(CONNECT_TIMEOUT_MS, options.requestTimeoutMs) }
  if (options.proxy === undefined || options.proxy === false) return new Agent({ ...settings, connect })
  return new EnvHttpProxyAgent({
    ...settings, connect, requestTls: connect,
    httpProxy: options.proxy, httpsProxy: options.proxy, noProxy: options.noProxy ?? '',
  })
}

function headersFor(apiKey: string, body: Uint8Array | string | null, init: HttpRequestInit): Record<string, string> {
  return {
    'user-agent': `pino-ingest/${VERSION}`,
    ...(body !== null && { 'content-type': CONTENT_TYPE }),
    ...(init.contentEncoding !== undefined && { 'content-encoding': init.contentEncoding }),
    ...(init.keyless !== true && { [API_KEY_HEADER]: apiKey }),
  }
}

async function readReply({ statusCode, headers, body }: Dispatcher.ResponseData): Promise<HttpReply> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_REPLY_BYTES) break // which destroys the body, and with it the connection
  }
  const text = Buffer.concat(chunks).subarray(0, MAX_REPLY_BYTES).toString()
  return { status: statusCode, headers, text, truncated: bytes > MAX_REPLY_BYTES }
}

/** A monitor's token is the only credential of its endpoint. */
function shownPath(path: string): string {
  return path.startsWith(PATHS.heartbeat) ? `${PATHS.heartbeat}<token>` : path
}

/** `ECONNREFUSED` and the like; of other errors the name, since their messages may quote what was sent. */
function networkReason(error: unknown): string {
  if (!(error instanceof Error)) return 'the request failed'
  const code = (error as NodeJS.ErrnoException).code
  const inner = error instanceof AggregateError ? error.errors.map(networkReason).join(', ') : ''
  return (inner || code) ?? error.name
}
