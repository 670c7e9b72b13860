/** One request through `fetch`, for Bun, which replaces undici. */
import type { HttpReply } from './http-types.js'

export interface FetchPost {
  readonly body: Uint8Array | string | null
  readonly headers: Record<string, string>
  readonly signal: AbortSignal
  readonly maxReplyBytes: number
  readonly tls?: object | undefined
  readonly proxy?: string | false | undefined
}

export async function fetchPost(url: string, options: FetchPost): Promise<HttpReply> {
  const { body, headers, signal, maxReplyBytes, tls, proxy } = options
  const init = {
    method: 'POST',
    body: body as string | null,
    headers,
    signal,
    // Following a redirect would send the key elsewhere.
    redirect: 'manual' as const,
    // Options of Bun, which other runtimes ignore. Bun reads the proxy variables itself, also for loopback; `false`
    // turns that off from Bun 1.4 on.
    ...(tls !== undefined && { tls }),
    ...(proxy !== undefined && { proxy }),
  }
  const response = await fetch(url, init)
  const chunks: Uint8Array[] = []
  let bytes = 0
  const reader = response.body?.getReader()
  while (reader !== undefined && bytes <= maxReplyBytes) {
    const { done, value } = await reader.read()
    if (done) break
    chunks.push(value)
    bytes += value.length
  }
  if (bytes > maxReplyBytes) await reader?.cancel()
  const text = Buffer.concat(chunks).subarray(0, maxReplyBytes).toString()
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text,
    truncated: bytes > maxReplyBytes,
  }
}
