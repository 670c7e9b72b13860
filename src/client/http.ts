/** The one place that talks HTTP. */
import type { Dispatcher } from 'undici'
import { API_KEY_HEADER, CONTENT_TYPE, PATHS } from '../protocol/limits.js'
import { VERSION } from '../version.js'
import { createDispatcher } from './dispatcher.js'
import { fetchPost } from './http-fetch.js'
import { HttpFailure } from './http-types.js'
import type { Http, HttpOptions, HttpReply, HttpRequestInit } from './http-types.js'
import { networkReason } from './network-reason.js'

/** A result names at most 100 entries; what is longer comes from something else. */
const MAX_REPLY_BYTES = 256 * 1024

export function createHttp(options: HttpOptions): Http {
  const base = new URL(options.url)
  const basePath = base.pathname.replace(/\/$/, '')
  const open = new Set<AbortController>()
  let loaded: Promise<Dispatcher> | undefined
  let isClosed = false

  async function exchange(path: string, body: Uint8Array | string | null, init: HttpRequestInit, signal: AbortSignal): Promise<HttpReply> {
    const headers = headersFor(options.apiKey, body, init)
    // Bun replaces undici by a shim that knows neither its agents nor its limits.
    if (process.versions['bun'] !== undefined) {
      return fetchPost(base.origin + basePath + path, { ...options, body, headers, signal, maxReplyBytes: MAX_REPLY_BYTES })
    }
    const dispatcher = await (loaded ??= createDispatcher(options))
    return readReply(await dispatcher.request({ origin: base.origin, path: basePath + path, method: 'POST', headers, body, signal }))
  }

  return {
    async post(path, body, init = {}) {
      const place = `POST ${base.origin}${basePath}${shownPath(path)}`
      if (isClosed) throw new HttpFailure('aborted', `${place}: closed`)
      const ended = new AbortController()
      const abort = (): void => ended.abort()
      let isTimedOut = false
      const timer = setTimeout(() => {
        isTimedOut = true
        abort()
      }, options.requestTimeoutMs)
      init.signal?.addEventListener('abort', abort)
      if (init.signal?.aborted === true) abort()
      open.add(ended)
      try {
        // undici hears of an abort only once the request has a connection, which behind a busy pool may take for ever.
        return await Promise.race([exchange(path, body, init, ended.signal), whenAborted(ended.signal)])
      } catch (error) {
        if (isTimedOut) throw new HttpFailure('timeout', `${place}: no reply within ${options.requestTimeoutMs} ms`)
        if (ended.signal.aborted) throw new HttpFailure('aborted', `${place}: ${isClosed ? 'closed' : 'aborted'}`)
        // Never the error itself: its properties may hold headers, and a proxy's URL its password.
        throw new HttpFailure('network', `${place}: ${networkReason(error)}`)
      } finally {
        open.delete(ended)
        clearTimeout(timer)
        init.signal?.removeEventListener('abort', abort)
      }
    },
    async close() {
      isClosed = true
      for (const one of open) one.abort()
      // Not `close()`, which waits for replies that may never come. Where there is none, each request was told why.
      await loaded?.then((dispatcher) => dispatcher.destroy(), () => {})
    },
  }
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    if (signal.aborted) reject(signal.reason as Error)
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
