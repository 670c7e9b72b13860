/** The only module that sends HTTP requests. */
import type { Dispatcher } from 'undici'
import { API_KEY_HEADER, CONTENT_TYPE, PATHS } from '../protocol/limits.js'
import { revealAll } from '../options/secret.js'
import { VERSION } from '../version.js'
import { KEEP_ALIVE_MS, loadDispatchers } from './dispatcher.js'
import { HttpExchange, MAX_REPLY_BYTES } from './http-exchange.js'
import type { ExchangeFailure } from './http-exchange.js'
import { fetchPost } from './http-fetch.js'
import type { FetchPost } from './http-fetch.js'
import { HttpFailure } from './http-types.js'
import type { Http, HttpOptions, HttpReply, HttpRequestInit } from './http-types.js'
import { describeNetworkError } from './network-error.js'
import { verifyListenerAt, UnverifiedListenerError } from './verify-listener.js'
import { AbortListeners } from './abort-listeners.js'

export function createHttp(options: HttpOptions): Http {
  const base = new URL(options.url)
  const basePath = base.pathname.replace(/\/$/, '')
  const open = new Set<HttpExchange>()
  const signals = new AbortListeners()
  let dispatcher: Dispatcher | undefined
  let create: (() => Dispatcher) | undefined
  let loading: Promise<() => Dispatcher> | undefined
  let isClosed = false
  let activeAt = now()
  /** Dispatchers from before a suspension, with requests that may still get a reply. */
  const retired = new Set<Dispatcher>()

  async function load(): Promise<() => Dispatcher> {
    return (create = await loadDispatchers(options))
  }

  /**
   * After a suspension of the process idle connections may be dead. A request may be sent before the timers run that would have closed
   * them.
   */
  function current(make: () => Dispatcher): Dispatcher {
    const isStale = now().some((at, clock) => at - (activeAt[clock] as number) > KEEP_ALIVE_MS)
    activeAt = now()
    if (isStale && dispatcher !== undefined) {
      retired.add(dispatcher)
      dispatcher = undefined
      if (open.size === 1) destroyRetired()
    }
    return (dispatcher ??= make())
  }

  function destroyRetired(): void {
    for (const one of retired) void one.destroy()
    retired.clear()
  }

  function exchange(path: string, body: Uint8Array | string | null, init: HttpRequestInit): Promise<HttpReply> {
    const timeoutMs = Math.min(options.requestTimeoutMs, init.timeoutMs ?? Infinity)
    const place = `POST ${base.origin}${basePath}${shownPath(path)}`
    return new Promise((resolve, reject) => {
      const end = (): void => {
        open.delete(one)
        if (open.size === 0) destroyRetired()
        clearTimeout(timer)
        if (init.signal !== undefined) signals.remove(init.signal, abort)
      }
      const one: HttpExchange = new HttpExchange(
        (reply) => {
          end()
          activeAt = now()
          resolve(reply)
        },
        (failure) => {
          end()
          reject(failureAt(place, failure, timeoutMs, isClosed))
        },
      )
      const abort = (): void => one.fail({ kind: 'aborted' })
      // After pending input was read: after a suspension timers run before replies are read.
      const timer = setTimeout(() => setImmediate(() => one.fail({ kind: 'timeout' })), timeoutMs)
      open.add(one)
      if (init.signal !== undefined) signals.add(init.signal, abort)
      if (isClosed || init.signal?.aborted === true) return abort()
      const headers = headersFor(options, body !== null, init)
      // Bun replaces undici by a shim without agents and limits.
      if (process.versions['bun'] !== undefined) {
        return sendByFetch(one, base.origin + basePath + path, options, {
          ...options,
          body,
          headers,
          maxReplyBytes: MAX_REPLY_BYTES,
        })
      }
      const request: Dispatcher.DispatchOptions = {
        origin: base.origin,
        path: basePath + path,
        method: 'POST',
        headers,
        body,
      }
      const start = (make: () => Dispatcher): void => {
        if (!one.isEnded) send(current(make), request, one)
      }
      if (create !== undefined) start(create)
      else (loading ??= load()).then(start, (error: unknown) => one.fail({ kind: 'network', error }))
    })
  }

  return {
    post: (path, body, init = {}) => exchange(path, body, init),
    async close() {
      isClosed = true
      for (const one of open) one.fail({ kind: 'aborted' })
      // Not `close()`, which waits for replies that may never arrive. If loading failed, each request has failed already.
      await loading?.then(
        () => dispatcher?.destroy(),
        () => {},
      )
      destroyRetired()
    },
  }
}

/** Both clocks, since one of them may stop while the machine is suspended. */
function now(): [number, number] {
  return [performance.now(), Date.now()]
}

function send(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, exchange: HttpExchange): void {
  try {
    dispatcher.dispatch(request, exchange)
  } catch (error) {
    exchange.fail({ kind: 'network', error })
  }
}

function sendByFetch(
  exchange: HttpExchange,
  url: string,
  { url: baseUrl, isLocalDefault, requestTimeoutMs }: HttpOptions,
  request: Omit<FetchPost, 'signal'>,
): void {
  const ended = new AbortController()
  exchange.onLeave(() => ended.abort())
  // Bun's `fetch` gives no access to its connections, so the listener is verified on a separate one before each request.
  const proven = isLocalDefault === true ? verifyListenerAt(baseUrl, requestTimeoutMs) : Promise.resolve()
  proven
    .then(() => fetchPost(url, { ...request, signal: ended.signal }))
    .then(
      (reply) => exchange.end(reply),
      (error: unknown) => exchange.fail({ kind: 'network', error }),
    )
}

function failureAt(place: string, { kind, error }: ExchangeFailure, timeoutMs: number, isClosed: boolean): HttpFailure {
  switch (kind) {
    case 'timeout':
      return new HttpFailure(kind, `${place}: no reply within ${timeoutMs} ms`)
    case 'aborted':
      return new HttpFailure(kind, `${place}: ${isClosed ? 'closed' : 'aborted'}`)
    case 'network':
      if (error instanceof UnverifiedListenerError)
        return new HttpFailure('unproven', `${place}: ${error.message}`, error.remedy)
      // Not the error itself: its properties may contain headers or the password of a proxy.
      return new HttpFailure(kind, `${place}: ${describeNetworkError(error)}`)
  }
}

function headersFor(
  { apiKey, headers = {} }: HttpOptions,
  hasBody: boolean,
  { contentEncoding, keyless }: HttpRequestInit,
): Record<string, string> {
  return {
    'user-agent': `pino-ingest/${VERSION}`,
    ...(hasBody && { accept: CONTENT_TYPE }),
    ...revealAll(headers),
    // RFC 9110, section 12.5.3: without this header a reply may be compressed.
    'accept-encoding': 'identity',
    ...(hasBody && { 'content-type': CONTENT_TYPE }),
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    ...(keyless !== true && { [API_KEY_HEADER]: apiKey }),
  }
}

/** Hides the token of a monitor, which is the only credential of its endpoint. */
function shownPath(path: string): string {
  return path.startsWith(PATHS.heartbeat) ? `${PATHS.heartbeat}<token>` : path
}
