/** The option `nats`: valid values, requirements, and that no message shows a secret. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { problem, resolve } from './resolve.js'

const SEED = `SU${'B'.repeat(56)}`
const JWT = jwtOf({ iss: 'ACCOUNT' })
const CREDS = `-----BEGIN NATS USER JWT-----
${JWT}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${SEED}
------END USER NKEY SEED------
`

function jwtOf(claims: unknown): string {
  return `eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.c2lnbmF0dXJl`
}

const natsOf = (nats: unknown, others: object = {}): NonNullable<ReturnType<typeof resolve>['nats']> =>
  resolve({ nats, ...others }).nats ?? expect.unreachable('not set')

describe('servers', () => {
  test.each([
    [['127.0.0.1'], ['127.0.0.1:4222']],
    [['localhost:5222'], ['localhost:5222']],
    [['nats://[::1]:5222'], ['[::1]:5222']],
    [
      ['tls://n1.example.com', 'n2.example.com:5222'],
      ['n1.example.com:4222', 'n2.example.com:5222'],
    ],
  ])('%j become hosts with ports', (servers, hosts) => {
    expect(natsOf({ servers }).servers).toEqual(hosts)
  })

  test.each(['', 'http://n1.example.com', 'tls://:4222', 'tls://n1.example.com:99999', 'two words'])(
    'rejects %j without showing it',
    (server) => {
      const message = problem({ nats: { servers: [server] } })
      expect(message).toContain('nats.servers')
      if (server !== '') expect(message).not.toContain(server)
    },
  )

  test('with a password are rejected without showing it', () => {
    const message = problem({ nats: { servers: ['tls://pino:s3cret-word@n1.example.com'] } })
    expect(message).toContain('nats.credentials')
    expect(message).toContain('n1.example.com')
    expect(message).not.toMatch(/s3cret-word|pino:/)
  })

  test('on other hosts need TLS or allowInsecure', () => {
    const message = problem({ nats: { servers: ['nats://n1.example.com'] } })
    expect(message).toMatch(/tls:\/\/.*allowInsecure/)
    expect(message).not.toContain('apiKey is required')
    expect(natsOf({ servers: ['n1.example.com'] }, { allowInsecure: true })).not.toHaveProperty('tls')
  })

  test('with one tls:// URL all use TLS', () => {
    expect(natsOf({ servers: ['tls://n1.example.com', 'n2.example.com'] }).tls).toEqual({})
    expect(natsOf({ servers: ['n1.example.com'], tls: {} }).tls).toEqual({})
  })
})

describe('credentials', () => {
  test.each([
    ['a .creds file', CREDS, CREDS.trim()],
    ['a .creds file as bytes', Buffer.from(CREDS), CREDS.trim()],
    ['a seed', SEED, SEED],
    ['a seed with a line feed', `${SEED}\n`, SEED],
  ])('%s', (_, credentials, revealed) => {
    expect(natsOf({ servers: ['127.0.0.1'], credentials }).credentials?.reveal()).toBe(revealed)
  })

  test.each(['a-password', SEED.slice(0, -1), SEED.replace('SU', 'SA'), CREDS.slice(0, 80)])(
    'rejects other text without showing it: %#',
    (credentials) => {
      const message = problem({ nats: { servers: ['127.0.0.1'], credentials } })
      expect(message).toContain('nats.credentials')
      expect(message).not.toContain(credentials)
    },
  )

  test.each([
    ['a .creds file', CREDS, [JWT, SEED]],
    ['a seed', SEED, [SEED]],
  ])('are secrets of the transport, without the surrounding text: %s', (_, credentials, expected) => {
    const { secrets } = resolve({ nats: { servers: ['127.0.0.1'], credentials } })
    expect(secrets.map((one) => one.reveal())).toEqual(expected)
    expect(JSON.stringify(resolve({ nats: { servers: ['127.0.0.1'], credentials } }))).not.toContain(SEED)
  })

  test('are read from the file in the variable', () => {
    const env = { PINO_INGEST_NATS_SERVERS: '127.0.0.1', PINO_INGEST_NATS_CREDENTIALS_FILE: '/creds' }
    expect(resolve({}, env, { '/creds': CREDS }).nats?.credentials?.reveal()).toBe(CREDS.trim())
    expect(problem({}, env)).toContain('PINO_INGEST_NATS_CREDENTIALS_FILE')
  })
})

test('rejects other values and members', () => {
  for (const stream of ['with.dot', 'with space', ''])
    expect(problem({ nats: { servers: ['127.0.0.1'], stream } })).toContain('nats.stream')
  expect(problem({ nats: { server: ['127.0.0.1'] } })).toMatch(/server.*servers/)
})

test('rejects unusable certificates without showing them', () => {
  const ca = '-----BEGIN CERTIFICATE-----\nbm90IGEgY2VydGlmaWNhdGU=\n-----END CERTIFICATE-----\n'
  const message = problem({ nats: { servers: ['tls://n1.example.com'], tls: { ca } } })
  expect(message).toContain('nats.tls')
  expect(message).not.toContain('bm90')
})

describe('instead of the service', () => {
  const NATS = { servers: ['127.0.0.1:4222'] }

  test('requires neither url nor apiKey, even in production', () => {
    const settings = resolve({ nats: NATS }, { NODE_ENV: 'production' })
    expect(settings).toMatchObject({ enabled: true, nats: { stream: 'PINO_INGEST' } })
    expect(settings.warning).toBeUndefined()
  })

  test('without servers the option has no effect', () => {
    expect(resolve({ nats: {} }).enabled).toBe(false)
    expect(problem({ nats: { stream: 'LOGS' } }, { NODE_ENV: 'production' })).toContain('url is required')
  })

  test('reports that a key is not used, and does not send it', () => {
    const settings = resolve({ nats: NATS, apiKey: 'key-4711-unused', url: 'https://logs.example.com/api/v1' })
    expect(settings.warning).toContain('apiKey is ')
    expect(settings.warning).not.toContain('key-4711-unused')
    expect(settings.apiKey.reveal()).not.toBe('key-4711-unused')
  })

  test('entries on disk belong to a stream, and to an account if there are credentials, else to the servers', () => {
    const urlOf = (nats: object): string => resolve({ nats }).url
    const [one, two] = [['127.0.0.1:1'], ['127.0.0.1:2', '127.0.0.1:1']]
    expect(urlOf({ servers: one, credentials: SEED })).toBe(urlOf({ servers: two, credentials: SEED }))
    expect(urlOf({ servers: two })).toBe(urlOf({ servers: two?.toReversed() }))
    expect(urlOf({ servers: one })).not.toBe(urlOf({ servers: two }))
    for (const nats of [NATS, { ...NATS, credentials: SEED }])
      expect(urlOf({ ...nats, stream: 'OTHER' })).not.toBe(urlOf(nats))
  })

  describe('entries on disk belong to an account', () => {
    const keyOf = (nats: object): string => resolve({ nats: { ...NATS, ...nats } }).apiKey.reveal()
    const creds = (claims: unknown): object => ({ credentials: CREDS.replace(JWT, jwtOf(claims)) })
    const otherSeed = `SU${'C'.repeat(56)}`

    test('named in the JWT, independent of issuer and user', () => {
      const key = keyOf(creds({ iss: 'A1', sub: 'U1' }))
      expect(keyOf(creds({ iss: 'A1', sub: 'U2' }))).toBe(key)
      expect(keyOf(creds({ iss: 'SIGNING', nats: { issuer_account: 'A1' } }))).toBe(key)
      expect(keyOf(creds({ iss: 'A2', sub: 'U1' }))).not.toBe(key)
      expect(keyOf(creds({ iss: 'A1', nats: { issuer_account: 'A2' } }))).not.toBe(key)
    })

    test('or to a user, if there is no account', () => {
      const keys = [{}, { credentials: SEED }, { credentials: otherSeed }, creds({}), creds({ iss: 1 }), creds(null)]
      expect(new Set(keys.map(keyOf)).size).toBe(keys.length)
      expect(keyOf({ credentials: `${SEED}\n` })).toBe(keyOf({ credentials: SEED }))
      expect(keyOf({ credentials: SEED })).not.toContain(SEED)
      expect(keyOf({ credentials: CREDS.replace(JWT, 'no-jwt') })).not.toContain(SEED)
    })

    test('or to the name in a certificate', () => {
      const pem = (name: string): string => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
      const client = { tls: { cert: pem('client.crt'), key: pem('client.key') } }
      const server = { tls: { cert: pem('server.crt'), key: pem('server.key') } }
      expect(new Set([{}, client, server].map(keyOf)).size).toBe(3)
      expect(keyOf({ ...client, credentials: SEED })).toBe(keyOf({ credentials: SEED }))
    })
  })

  test('rejects registerRelease, which needs the service', () => {
    expect(problem({ nats: NATS, registerRelease: true, version: '1' })).toContain('registerRelease')
    expect(resolve({ nats: NATS, releaseId: 'rel_1' }).releaseId).toBe('rel_1')
  })

  test('uses a lower default of maxConcurrency', () => {
    expect(resolve({ nats: NATS }).maxConcurrency).toBe(8)
    expect(resolve({ nats: NATS, maxConcurrency: 20 }).maxConcurrency).toBe(20)
    expect(resolve({}).maxConcurrency).toBe(32)
  })
})
