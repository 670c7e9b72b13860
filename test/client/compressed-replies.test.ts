/** Replies that are compressed although the request does not allow it. */
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { IngestClient } from '../../src/client/index.js'
import { httpServer, httpTo } from './http-servers.js'

const TEXT = JSON.stringify({ accepted: 1, rejected: 0, message: 'äöü', errors: [] })

test.each<[coding: string, body: Uint8Array, text?: string]>([
  ['gzip', gzipSync(TEXT), TEXT],
  ['identity', Buffer.from(TEXT)],
  ['gzip', Buffer.from(TEXT)],
  ['gzip', gzipSync(TEXT).subarray(0, -9)],
  ['gzip', gzipSync('x'.repeat(1 + 256 * 1024))],
  ['br', brotliCompressSync(TEXT)],
])(
  '%s: gzip of at most 256 KiB is decompressed, another body is what was received (%#)',
  async (coding, body, text) => {
    const server = await httpServer(
      (response) => void response.setHeader('content-encoding', coding).writeHead(422).end(body),
    )
    const reply = await httpTo(server.origin).post('/ingest', '{}')
    expect(reply).toMatchObject({ status: 422, text: text ?? Buffer.from(body).toString(), truncated: false })
  },
)

test('the result of a batch is read', async () => {
  const server = await httpServer(
    (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT)),
  )
  const client = new IngestClient({ url: `${server.origin}/api/v1`, apiKey: 'key-4711' })
  const logs = [{ level: 'info', message: 'm', timestamp: '2026-01-31T08:00:00.000Z' }] as const
  expect(await client.ingest({ logs })).toMatchObject({ accepted: 1, message: 'äöü' })
  await client.close()
})
