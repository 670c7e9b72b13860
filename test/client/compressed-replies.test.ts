/** Replies that are compressed although the request does not allow it. */
import { randomBytes } from 'node:crypto'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { IngestClient } from '../../src/client/index.js'
import type { HttpReply } from '../../src/client/http-types.js'
import { httpServer, httpTo } from './http-servers.js'

const LIMIT = 256 * 1024
const TEXT = JSON.stringify({ accepted: 1, rejected: 0, message: 'äöü', errors: [] })

async function replyOf(coding: string | string[], body: Uint8Array): Promise<HttpReply> {
  const server = await httpServer(
    (response) => void response.setHeader('content-encoding', coding).writeHead(422).end(body),
  )
  const reply = await httpTo(server.origin).post('/ingest', '{}')
  expect(reply.status).toBe(422)
  return reply
}

test.each([
  ['gzip', gzipSync(TEXT)],
  ['x-gzip', gzipSync(TEXT)],
  [' GZIP ', gzipSync(TEXT)],
  ['deflate', deflateSync(TEXT)],
  ['deflate', deflateRawSync(TEXT)],
  ['deflate', deflateRawSync(TEXT, { level: 0 })],
  ['br', brotliCompressSync(TEXT)],
])('%s is decompressed', async (coding, body) => {
  expect(await replyOf(coding, body)).toMatchObject({ text: TEXT, truncated: false })
})

test.each<[coding: string | string[], body: Uint8Array]>([
  ['gzip, gzip', gzipSync(gzipSync(TEXT))],
  [['gzip', 'gzip'], gzipSync(gzipSync(TEXT))],
  ['zstd', gzipSync(TEXT)],
  ['constructor', gzipSync(TEXT)],
  ['', Buffer.from(TEXT)],
  ['identity', Buffer.from(TEXT)],
  ['gzip', Buffer.from(TEXT)],
  ['gzip', gzipSync(TEXT).subarray(0, -9)],
  ['deflate', Buffer.from(TEXT)],
  ['br', brotliCompressSync(TEXT).subarray(0, -9)],
  ['gzip', Buffer.alloc(0)],
])('several codings, an unknown one, or a damaged body: the text is what was received (%j)', async (coding, body) => {
  expect(await replyOf(coding, body)).toMatchObject({ text: body.toString(), truncated: false })
})

describe('the limit applies to the decompressed text', () => {
  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('%s', async (coding, compress) => {
    expect(await replyOf(coding, compress(`{${'x'.repeat(LIMIT - 1)}`))).toMatchObject({ truncated: false })
    for (const length of [LIMIT, 50 * LIMIT]) {
      const { text, truncated } = await replyOf(coding, compress(`{${'x'.repeat(length)}`))
      expect([truncated, text.length, text.slice(0, 2)]).toEqual([true, LIMIT, '{x'])
    }
  })

  test('of a reply that is too long when compressed, too', async () => {
    const { text, truncated } = await replyOf('gzip', gzipSync(`{${randomBytes(3 * LIMIT).toString('hex')}`))
    expect([truncated, text.length]).toEqual([true, LIMIT])
    expect(text).toMatch(/^\{[0-9a-f]+$/)
  })
})

test('the result of a batch is read', async () => {
  const server = await httpServer(
    (response) => void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(TEXT)),
  )
  const client = new IngestClient({ url: `${server.origin}/api/v1`, apiKey: 'key-4711' })
  const logs = [{ level: 'info', message: 'm', timestamp: '2026-01-31T08:00:00.000Z' }] as const
  expect(await client.ingest({ logs })).toMatchObject({ accepted: 1, message: 'äöü' })
  await client.close()
})
