/** Access control by token, Host and Origin: other web pages can neither read nor write. */
import { createHmac } from 'node:crypto'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { describe, expect, it } from 'vitest'
import { createIngestService } from '../../../src/service/index.js'
import type { IngestService } from '../../../src/service/index.js'
import { call, entryOf, ingest, local, started, until } from '../support.js'

const TOKEN = 'token_of-sixteen'
const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')

/** One path of each kind: the interface, the data, the page, and an unknown one. */
const EVERYWHERE = [
  '/api/v1/ingest',
  '/api/v1/heartbeat/t',
  '/local/entries',
  '/local/stream',
  '/',
  '/page/main.js',
  '/page/style.css',
  '/nope',
]

function send(service: IngestService, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return call(`${service.origin}${path}`, { method, headers: { authorization: `Bearer ${service.token}`, ...headers } })
}

describe('Host', () => {
  it.each(['evil.example', 'localhost.evil', '[::1]x', '127.0.0.2'])('%j is refused everywhere', async (host) => {
    const service = await started()
    for (const path of EVERYWHERE) expect((await send(service, path, { host })).status, path).toBe(403)
    expect((await send(service, '/api/v1/ingest', { host }, 'POST')).json.detail[0].msg).toContain(JSON.stringify(host))
    expect(service.requests).toEqual([])
  })

  it.each(['localhost:1', '127.0.0.1', '[::1]:4319', 'LOCALHOST'])('%s is accepted', async (host) => {
    const service = await started()
    expect((await local(service, 'entries', { headers: { host } })).status).toBe(200)
    expect((await ingest(service, [entryOf()], 'b', { host })).status).toBe(200)
  })

  it('is required, also with HTTP/1.0', async () => {
    const { port, token } = await started()
    const socket = connect(port, '127.0.0.1')
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.write(`GET /local/entries?token=${token} HTTP/1.0\r\n\r\n`)
    await until(() => text.includes('\r\n'))
    expect(text).toMatch(/^HTTP\/1\.1 403 /)
    socket.destroy()
  })
})

describe('Origin', () => {
  it('of the service is accepted, any other is refused everywhere', async () => {
    const service = await started()
    const { origin } = service
    expect((await send(service, '/local/entries', { origin })).status).toBe(200)
    const others = [
      'http://evil.example',
      'null',
      '',
      'http://127.0.0.1:1',
      origin.replace('http', 'https'),
      origin.replace('127.0.0.1', 'localhost'),
    ]
    for (const other of others) {
      for (const path of EVERYWHERE)
        expect((await send(service, path, { origin: other })).status, `${other} ${path}`).toBe(403)
      expect((await send(service, '/local/reset', { origin: other }, 'POST')).status).toBe(403)
    }
  })

  it('a page of another origin cannot write logs', async () => {
    const service = await started()
    // Headers that a page can send without a preflight.
    const simple = { origin: 'http://localhost:3000', 'content-type': 'text/plain' }
    expect((await ingest(service, [entryOf()], 'b', simple)).status).toBe(403)
    expect((await call(`${service.url}/heartbeat/t`, { headers: simple })).status).toBe(403)
    expect((await ingest(service, [entryOf()], 'b', { origin: 'http://localhost:3000' })).status).toBe(403)
    expect([service.arrived, service.heartbeats().items.length, service.requests.length]).toEqual([0, 0, 0])
  })

  it('preflights are always refused', async () => {
    const service = await started()
    for (const origin of ['http://evil.example', service.origin]) {
      for (const path of EVERYWHERE) {
        const asked = {
          origin,
          'access-control-request-method': 'POST',
          'access-control-request-headers': 'authorization',
        }
        const { status, headers } = await call(`${service.origin}${path}`, { method: 'OPTIONS', headers: asked })
        expect(status, path).toBeGreaterThanOrEqual(400)
        expect(
          Object.keys(headers).filter((name) => name.startsWith('access-control-')),
          path,
        ).toEqual([])
      }
    }
  })
})

describe('the token', () => {
  it('permits access to /local/ as a header, and read access in the query', async () => {
    const service = await started({ token: TOKEN })
    const get = (path: string, headers = {}, method = 'GET') =>
      call(`${service.origin}/local/${path}`, { method, headers })
    expect(service.token).toBe(TOKEN)
    expect(service.pageUrl).toBe(`${service.origin}/#token=${TOKEN}`)
    for (const authorization of [`Bearer ${TOKEN}`, `bearer  ${TOKEN} `]) {
      expect((await get('entries', { authorization })).status).toBe(200)
      expect((await get('reset', { authorization }, 'POST')).status).toBe(200)
      expect((await get('faults', { authorization }, 'DELETE')).status).toBe(200)
    }
    for (const path of [`entries?token=${TOKEN}`, `entries?limit=1&token=${TOKEN}`, `status?token=${TOKEN}`]) {
      expect((await get(path)).status, path).toBe(200)
      expect((await get(path, {}, 'HEAD')).status, path).toBe(200)
      expect((await get(path, { authorization: `Bearer ${TOKEN}` })).status, path).toBe(200)
    }
    expect((await get(`entries/none?token=${TOKEN}`)).status).toBe(404)
  })

  it.each<[string, string, Record<string, string>?]>([
    ['none', 'entries'],
    ['a wrong one', 'entries', { authorization: 'Bearer token_of-sixteeN' }],
    ['the token with a suffix', 'entries', { authorization: `Bearer ${TOKEN}x` }],
    ['another scheme', 'entries', { authorization: `Basic ${TOKEN}` }],
    ['a wrong one in the query', 'entries?token=token_of-sixteeN'],
    ['two in the query', `entries?token=${TOKEN}&token=${TOKEN}`],
    ['a wrong header with the right query', `entries?token=${TOKEN}`, { authorization: 'Bearer x' }],
    ['the key of the interface', 'entries', { 'x-api-key': TOKEN }],
  ])('%s does not permit access', async (_name, path, headers = {}) => {
    const { origin } = await started({ token: TOKEN })
    const answer = await call(`${origin}/local/${path}`, { method: 'GET', headers })
    expect([answer.status, answer.headers['www-authenticate']]).toEqual([401, 'Bearer realm="pino-ingest"'])
    expect(answer.json.detail[0].msg).toContain('`pino-ingest dev` printed')
  })

  it('in the query does not permit changes', async () => {
    const service = await started({ token: TOKEN })
    await ingest(service, [entryOf()])
    for (const [path, method] of [
      ['reset', 'POST'],
      ['faults', 'DELETE'],
      ['faults', 'POST'],
    ] as const) {
      expect((await call(`${service.origin}/local/${path}?token=${TOKEN}`, { method })).status).toBe(401)
    }
    expect(service.counts().total).toBe(1)
  })

  it('is random by default; errors about an option do not show it', async () => {
    const [one, two] = [await started(), await started()]
    expect(one.token).toMatch(/^[\w-]{22}$/)
    expect(one.token).not.toBe(two.token)
    const token = 'c2VjcmV0LXRva2Vu\n'
    const error = await createIngestService({ token }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({
      code: 'CONFIG',
      message: expect.stringMatching(/^token must be 16 to 512 characters/),
    })
    expect(String(error)).not.toContain(token.trim())
  })

  it('is in no reply and in no recorded request', async () => {
    const service = await started({ token: TOKEN })
    const answers = [
      await local(service, `entries?token=${TOKEN}&color=1`),
      await local(service, 'status'),
      await local(service, 'nope'),
      await call(`${service.origin}/local/entries?token=${TOKEN}x`, { method: 'GET' }),
      await call(`${service.origin}/api/v1/nope?token=${TOKEN}`),
      await local(service, 'requests'),
      await call(`${service.origin}/`, { method: 'GET' }),
    ]
    for (const { text, headers } of answers) expect(text + JSON.stringify(headers)).not.toContain(TOKEN)
  })
})

describe('the service proves that it knows the token', () => {
  const NONCE = 'A-nonce_of-22-letters0'
  const challenged = (
    { origin }: Pick<IngestService, 'origin'>,
    nonce: string,
    { path = '/local/status', method = 'GET', headers = {} } = {},
  ) => call(`${origin}${path}`, { method, headers: { 'x-pino-ingest-challenge': nonce, ...headers } })
  const signed = (text: string, token = TOKEN): string => createHmac('sha256', token).update(text).digest('base64url')

  it('by a signature of the nonce and its own address, for every Host header', async () => {
    const service = await started({ token: TOKEN })
    const right = `Bearer realm="pino-ingest", proof="${signed(`${NONCE} http://127.0.0.1:${service.port}`)}"`
    for (const host of [`127.0.0.1:${service.port}`, 'localhost:1', '[::1]:4319']) {
      const { status, headers, text } = await challenged(service, NONCE, { headers: { host } })
      expect([status, headers['www-authenticate']], host).toEqual([401, right])
      expect(text).not.toContain('proof')
    }
    const other = await started({ token: TOKEN })
    expect((await challenged(other, NONCE)).headers['www-authenticate']).toBe(
      `Bearer realm="pino-ingest", proof="${signed(`${NONCE} ${other.origin}`)}"`,
    )
    expect(other.origin).not.toBe(service.origin)
  })

  it.skipIf(!hasIpv6)('on IPv6 with its address', async () => {
    const service = await started({ token: TOKEN, host: '::1' })
    expect((await challenged(service, NONCE)).headers['www-authenticate']).toContain(
      `proof="${signed(`${NONCE} http://[::1]:${service.port}`)}"`,
    )
  })

  it.each([
    '',
    'a'.repeat(15),
    `${'a'.repeat(20)} http://127.0.0.1:4319`,
    'ä'.repeat(20),
    `${'a'.repeat(20)}, ${'b'.repeat(20)}`,
  ])('and signs nothing else: %j', async (nonce) => {
    const { status, headers } = await challenged(await started({ token: TOKEN }), nonce)
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="pino-ingest"'])
  })

  it('but not to a web page, nor if the request has the token', async () => {
    const service = await started({ token: TOKEN })
    const answers = [
      await challenged(service, NONCE, { headers: { origin: 'http://evil.example' } }),
      await challenged(service, NONCE, { headers: { host: 'evil.example' } }),
      await challenged(service, NONCE, { headers: { authorization: `Bearer ${TOKEN}` } }),
      await challenged(service, NONCE, { path: '/' }),
      await challenged(service, NONCE, { path: '/api/v1/ingest', method: 'POST' }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 403, 200, 200, 415])
    for (const { headers, text } of answers) expect(JSON.stringify(headers) + text).not.toContain('proof="')
  })
})
