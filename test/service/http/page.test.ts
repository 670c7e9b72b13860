/** The files of the page and their headers. The browser tests cover the page's behavior. */
import { describe, expect, it } from 'vitest'
import { call, entryOf, ingest, local, started } from '../support.js'
import type { Answer } from '../support.js'

const FILES = [
  ['/', 'text/html; charset=utf-8', '<!doctype html>'],
  ['/page/main.js', 'text/javascript; charset=utf-8', ''],
  ['/page/style.css', 'text/css; charset=utf-8', ''],
] as const

describe('the page', () => {
  it.each(FILES)('%s needs no token, and has security headers', async (path, type, start) => {
    const { origin } = await started()
    const { status, headers, text } = await call(origin + path, { method: 'GET' })
    expect([status, headers['content-type']]).toEqual([200, type])
    expect(Number(headers['content-length'])).toBe(Buffer.byteLength(text))
    expect(text.length).toBeGreaterThan(20)
    expect(text.startsWith(start)).toBe(true)
    expect(headers['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    )
    expect(headers).toMatchObject({
      'cache-control': 'no-cache',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'permissions-policy': expect.stringContaining('camera=()'),
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
  })

  it('replies with 304 to a known ETag, and to HEAD', async () => {
    const { origin } = await started()
    const get = (headers = {}, method = 'GET') => call(`${origin}/page/main.js`, { method, headers })
    const { headers } = await get()
    const etag = String(headers.etag)
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get({ 'if-none-match': known })
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag])
    }
    expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)
    const head = await get({}, 'HEAD')
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', headers['content-length']])
  })

  it('has no other paths, and permits only GET and HEAD', async () => {
    const { origin } = await started()
    for (const path of ['/page', '/page/../page/main.js', '/favicon.ico', '/api/v1', '/PAGE/main.js']) {
      const { status, json } = await raw(origin, path)
      expect([status, json.detail[0].type], path).toEqual([404, 'not_found'])
    }
    const { status, headers } = await call(`${origin}/`, { body: {} })
    expect([status, headers.allow]).toEqual([405, 'GET'])
  })
})

it('replies with data cannot be used as a document, a script or a frame, and are not cached', async () => {
  const service = await started()
  await ingest(service, [entryOf({ message: '<script>alert(1)</script>' })])
  const answers: Answer[] = [
    await local(service, 'entries'),
    await local(service, 'nope'),
    await local(service, 'stream', { method: 'HEAD' }),
    await call(`${service.origin}/local/entries`, { method: 'GET' }),
    await call(`${service.origin}/nope`, { method: 'GET' }),
    await ingest(service, [entryOf()]),
    await ingest(service, [1]),
    await call(`${service.origin}/`, { method: 'GET', headers: { host: 'evil.example' } }),
  ]
  for (const { headers } of answers) {
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    expect(headers['content-type']).toMatch(/^(?:application\/json|text\/event-stream; charset=utf-8)$/)
  }
})

/** Sends the path unchanged, which `fetch` and `URL` would normalize. */
function raw(origin: string, path: string): Promise<Answer> {
  return call(origin, { method: 'GET', path })
}
