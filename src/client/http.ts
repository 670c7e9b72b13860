/** The one place that talks HTTP. */
import type { Dispatcher } from 'undici'
import { API_KEY_HEADER, CONTENT_TYPE, PATHS } from '../protocol/limits.js'
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
  let heardAt = now()
  /** Of before a stop, with requests that may still be answered. */
  const retired = new Set<Dispatcher>()

  async function load(): Promise<() => Dispatcher> {
    return (create = await loadDispatchers(options))
  }

  /**
   * After a process was stopped, idle connections may be dead, and be used again all the same: what woke it may ask for a request
   * before it is the turn of the timers that would have closed them.
   */
  function current(make: () => Dispatcher): Dispatcher {
    const isStale = now().some((at, clock) => at - (heardAt[clock] as number) > KEEP_ALIVE_MS)
    heardAt = now()
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
          heardAt = now()
          resolve(reply)
        },
        (failure) => {
          end()
          reject(failureAt(place, failure, timeoutMs, isClosed))
        },
      )
      const abort = (): void => one.fail({ kind: 'aborted' })
      // Once what has come was read: a process that was stopped finds its timers first, and then the reply.
      const timer = setTimeout(() => setImmediate(() => one.fail({ kind: 'timeout' })), timeoutMs)
      open.add(one)
      if (init.signal !== undefined) signals.add(init.signal, abort)
      if (isClosed || init.signal?.aborted === true) return abort()
      const headers = headersFor(options.apiKey, body !== null, init)
      // Bun replaces undici by a shim that knows neither its agents nor its limits.
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
      // Not `close()`, which waits for replies that may never come. Where there is none, each request was told why.
      await loading?.then(
        () => dispatcher?.destroy(),
        () => {},
      )
      destroyRetired()
    },
  }
}

/** On the clock that never jumps and on the wall's: where a whole machine is stopped, one of them may be, too. */
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
  // Bun's `fetch` gives no access to its connections: the listener is asked before each request, on a connection of its own.
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
      // Never the error itself: its properties may hold headers, and a proxy's URL its password.
      return new HttpFailure(kind, `${place}: ${describeNetworkError(error)}`)
  }
}

function headersFor(
  apiKey: string,
  hasBody: boolean,
  { contentEncoding, keyless }: HttpRequestInit,
): Record<string, string> {
  return {
    'user-agent': `pino-ingest/${VERSION}`,
    // RFC 9110, section 12.5.3: without it a reply may be compressed.
    'accept-encoding': 'identity',
    ...(hasBody && { 'content-type': CONTENT_TYPE, accept: CONTENT_TYPE }),
    ...(contentEncoding !== undefined && { 'content-encoding': contentEncoding }),
    ...(keyless !== true && { [API_KEY_HEADER]: apiKey }),
  }
}

/** A monitor's token is the only credential of its endpoint. */
function shownPath(path: string): string {
  return path.startsWith(PATHS.heartbeat) ? `${PATHS.heartbeat}<token>` : path
}
