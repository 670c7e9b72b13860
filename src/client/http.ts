/** The only module that sends HTTP requests. */
import { setMaxListeners } from 'node:events'
import type { Dispatcher } from 'undici'
import { API_KEY_HEADER, CONTENT_TYPE, PATHS } from '../protocol/limits.js'
import { createSecretMask } from '../diagnostics/secret-mask.js'
import { revealAll } from '../options/secret.js'
import { nativeClearTimeout, nativeSetImmediate, nativeSetTimeout, systemClock } from '../shared/clock.js'
import { VERSION } from '../version.js'
import { KEEP_ALIVE_MS, loadDispatchers } from './dispatcher.js'
import { HttpExchange, MAX_REPLY_BYTES } from './http-exchange.js'
import type { ExchangeFailure, HttpRequest } from './http-exchange.js'
import { fetchPost } from './http-fetch.js'
import type { FetchPost } from './http-fetch.js'
import { HttpFailure } from './http-types.js'
import type { Http, HttpOptions, HttpReply, HttpRequestInit } from './http-types.js'
import { explainRequestError } from './network-error.js'

export function createHttp(options: HttpOptions): Http {
  // Bun replaces undici with a shim without agents and limits.
  const isBun = process.versions['bun'] !== undefined
  const base = new URL(options.url)
  const { origin } = base
  const basePath = base.pathname.replace(/\/$/, '')
  const open = new Set<HttpExchange>()
  const timeouts = new RequestTimeouts(open)
  const headersOf = createHeaders(options)
  const through = describeProxy(options.proxy)
  let dispatcher: Dispatcher | undefined
  let create: (() => Dispatcher) | undefined
  let loading: Promise<() => Dispatcher> | undefined
  let isClosed = false
  /** Whether the service has rejected the key since its file was read. */
  let isKeyRejected = false
  /** Time of the latest activity by both clocks, since one of them may stop while the machine is suspended. */
  let activeAt = systemClock.now()
  let activeWallAt = systemClock.wallNow()
  /** Dispatchers from before a suspension, with requests that may still get a reply. */
  const retired = new Set<Dispatcher>()

  async function load(): Promise<() => Dispatcher> {
    return (create = await loadDispatchers(options))
  }

  /**
   * After a suspension of the process, idle connections may be dead, and a request may be sent before the timers that
   * close them run.
   */
  function current(make: () => Dispatcher): Dispatcher {
    const [now, wallNow] = [systemClock.now(), systemClock.wallNow()]
    const isStale = now - activeAt > KEEP_ALIVE_MS || wallNow - activeWallAt > KEEP_ALIVE_MS
    activeAt = now
    activeWallAt = wallNow
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

  function ended(
    one: HttpExchange,
    reply: HttpReply | Promise<HttpReply> | undefined,
    failure: ExchangeFailure = { kind: 'network' },
  ): void {
    const { request } = one
    open.delete(one)
    if (open.size === 0 && retired.size > 0) destroyRetired()
    request.signal?.removeEventListener('abort', one.abort)
    if (reply === undefined) {
      const failed = toFailure(request, failure)
      if (failed.kind === 'descriptors') {
        dispatcher?.close().catch(() => {}) // idle connections now, others after their replies
        dispatcher = undefined
      }
      return request.reject(failed)
    }
    activeAt = systemClock.now()
    activeWallAt = systemClock.wallNow()
    void Promise.resolve(reply).then(({ status }) => (isKeyRejected ||= status === 401 || status === 403))
    request.resolve(reply)
  }

  function toFailure({ path, timeoutMs }: HttpRequest, { kind, error }: ExchangeFailure): HttpFailure {
    const target = `POST ${origin}${basePath}${hideToken(path)}${through}`
    if (kind === 'aborted') return new HttpFailure(kind, `${target}: ${isClosed ? 'closed' : 'aborted'}`)
    if (kind === 'timeout') return new HttpFailure(kind, `${target}: no reply within ${timeoutMs} ms`)
    // Not the error itself, because its properties may contain headers or the password of a proxy.
    const mask = (shown: string): string =>
      createSecretMask((options.secrets ?? []).map((secret) => secret.reveal()))(shown)
    const explained = explainRequestError(error, mask)
    return new HttpFailure(explained.kind ?? kind, `${target}: ${explained.text}`, explained.remedy)
  }

  function send(one: HttpExchange, body: Uint8Array | string | null, init: HttpRequestInit): void {
    // Not at the rejection: the file may be corrected later, while the next attempt waits.
    if (isKeyRejected) options.apiKey.reread()
    isKeyRejected = false
    const path = basePath + one.request.path
    const headers = headersOf(body !== null, init)
    if (isBun) return sendByFetch(one, origin + path, { ...options, body, headers, maxReplyBytes: MAX_REPLY_BYTES })
    const dispatched: Dispatcher.DispatchOptions = { origin, path, method: 'POST', headers, body }
    if (create !== undefined) return dispatch(current(create), dispatched, one)
    ;(loading ??= load()).then(
      (make) => void (one.isEnded || dispatch(current(make), dispatched, one)),
      (error: unknown) => one.fail({ kind: 'network', error }),
    )
  }

  return {
    prepare() {
      // Ignored here, because each request reports the failure.
      if (!isBun && loading === undefined) (loading = load()).catch(() => {})
    },
    post(path, body, init = {}) {
      return new Promise((resolve, reject) => {
        const { signal, timeoutMs: ownTimeoutMs = Infinity } = init
        const timeoutMs = Math.min(options.requestTimeoutMs, ownTimeoutMs)
        const now = systemClock.now()
        const request = { path, signal, timeoutMs, deadlineAt: now + timeoutMs, resolve, reject }
        const one = new HttpExchange(request, ended)
        if (isClosed || signal?.aborted === true) return one.abort()
        open.add(one)
        timeouts.watch(request.deadlineAt, now)
        // One signal may end many requests; it may also be that of another library.
        if (signal instanceof AbortSignal) setMaxListeners(0, signal)
        signal?.addEventListener('abort', one.abort)
        send(one, body, init)
      })
    },
    async close() {
      isClosed = true
      for (const one of open) one.abort()
      // Not `close()`, which waits for replies that may never arrive. If loading failed, all requests have already
      // failed.
      await loading?.then(
        () => dispatcher?.destroy(),
        () => {},
      )
      destroyRetired()
    },
  }
}

function dispatch(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, exchange: HttpExchange): void {
  try {
    dispatcher.dispatch(request, exchange)
  } catch (error) {
    exchange.fail({ kind: 'network', error })
  }
}

function sendByFetch(exchange: HttpExchange, url: string, request: Omit<FetchPost, 'signal'>): void {
  const ended = new AbortController()
  exchange.onRequestStart(ended)
  fetchPost(url, { ...request, signal: ended.signal }).then(
    (reply) => exchange.end(reply),
    (error: unknown) => exchange.fail({ kind: 'network', error }),
  )
}

/** Without user info. */
function describeProxy(proxy: HttpOptions['proxy']): string {
  if (proxy === undefined || proxy === false) return ''
  const { protocol, host } = new URL(proxy)
  return ` through the proxy ${protocol}//${host}`
}

/** @returns the headers of a request, which most requests share until the key changes */
function createHeaders({
  apiKey,
  headers = {},
}: HttpOptions): (hasBody: boolean, init: HttpRequestInit) => Record<string, string> {
  const create = (hasBody: boolean, { headers: own, keyless }: HttpRequestInit): Record<string, string> => ({
    'user-agent': `pino-ingest/${VERSION}`,
    ...(hasBody && { accept: CONTENT_TYPE }),
    ...revealAll(headers),
    ...own,
    // RFC 9110, section 12.5.3: without this header, a reply may be compressed.
    'accept-encoding': 'identity',
    ...(hasBody && { 'content-type': CONTENT_TYPE }),
    ...(keyless !== true && { [API_KEY_HEADER]: apiKey.reveal() }),
  })
  let usual: Record<string, string> = {}
  return (hasBody, init) => {
    if (!hasBody || init.keyless === true) return create(hasBody, init)
    if (usual[API_KEY_HEADER] !== apiKey.reveal()) usual = create(true, init)
    return usual
  }
}

/** Hides the token of a monitor, which is the only credential of its endpoint. */
export function hideToken(path: string): string {
  return path.startsWith(PATHS.heartbeat) ? `${PATHS.heartbeat}<token>` : path
}

/** Ends requests at their deadlines. Uses one timer for all of them, because most requests get a reply long before. */
class RequestTimeouts {
  /** Requests that have not ended. */
  readonly #open: ReadonlySet<HttpExchange>
  #timer: NodeJS.Timeout | undefined
  #timerAt = Infinity

  constructor(open: ReadonlySet<HttpExchange>) {
    this.#open = open
  }

  /** Must be called when a request with this deadline is open. */
  watch(deadlineAt: number, now: number): void {
    if (deadlineAt >= this.#timerAt) return
    nativeClearTimeout(this.#timer)
    this.#timerAt = deadlineAt
    // The timer need not keep the process alive, because a request has a socket.
    this.#timer = nativeSetTimeout(() => nativeSetImmediate(() => this.#check()), deadlineAt - now).unref()
  }

  /** Runs after pending input was read, because after a suspension timers run before replies are read. */
  #check(): void {
    this.#timerAt = Infinity
    const now = systemClock.now()
    let nextAt = Infinity
    for (const request of this.#open) {
      if (request.deadlineAt <= now) request.timeOut()
      else nextAt = Math.min(nextAt, request.deadlineAt)
    }
    if (nextAt < Infinity) this.watch(nextAt, now)
  }
}
