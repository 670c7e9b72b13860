/** The request through `fetch`, for runtimes where undici is not itself. */
import type { HttpReply } from './http-types.js'

export interface FetchPost {
  readonly body: Uint8Array | string | null
  readonly headers: Record<string, string>
  readonly signal: AbortSignal
  readonly maxReplyBytes: number
}

export async function fetchPost(url: string, { body, headers, signal, maxReplyBytes }: FetchPost): Promise<HttpReply> {
  // `manual`: followed, a redirect would carry the key to wherever it leads.
  const response = await fetch(url, { method: 'POST', body: body as string | null, headers, signal, redirect: 'manual' })
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
  return { status: response.status, headers: Object.fromEntries(response.headers), text, truncated: bytes > maxReplyBytes }
}
