/** Decompresses replies, which some gateways compress although requests do not allow it. */
import type { Transform } from 'node:stream'
import type { HttpReply } from './http-types.js'

/** One reply is decompressed at a time, since Brotli may take 16 MiB, however short the reply is. */
let latest: Promise<unknown> = Promise.resolve()

/**
 * @param body as received
 * @returns the reply with at most `maxBytes` of decompressed text, or unchanged if its body cannot be decompressed
 */
export function decompressReply(reply: HttpReply, body: Buffer, maxBytes: number): Promise<HttpReply> {
  const decompressed = latest.then(() => decompress(reply, body, maxBytes)).catch(() => reply)
  latest = decompressed
  return decompressed
}

async function decompress(reply: HttpReply, body: Buffer, maxBytes: number): Promise<HttpReply> {
  const stream = createDecompressor(String(reply.headers['content-encoding']).trim().toLowerCase(), body)
  if (stream === undefined) return reply
  const chunks: Buffer[] = []
  let bytes = 0
  stream.end(body)
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > maxBytes) break // destroys the stream
  }
  const text = Buffer.concat(chunks).toString('utf8', 0, maxBytes)
  return { ...reply, text, truncated: reply.truncated || bytes > maxBytes }
}

function createDecompressor(coding: string, body: Buffer): Transform | undefined {
  // Loading takes 1.4 ms, and few replies are compressed.
  const zlib = process.getBuiltinModule('node:zlib')
  switch (coding) {
    case 'gzip':
    case 'x-gzip':
      return zlib.createGunzip()
    case 'deflate':
      // RFC 9110, section 8.4.1.2: some servers omit the zlib header. The low half of its first byte is 8.
      return (body[0] ?? 0) % 16 === 8 ? zlib.createInflate() : zlib.createInflateRaw()
    case 'br':
      return zlib.createBrotliDecompress()
    default:
      return undefined
  }
}
