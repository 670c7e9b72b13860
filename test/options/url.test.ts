import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkUrl, isLoopback, findProxy } from '../../src/options/url.js'
import { problem, resolve } from './resolve.js'

const judged = (url: string, allowInsecure = false): { url: string; problems: string[] } => {
  const problems: string[] = []
  return { url: checkUrl(url, allowInsecure, problems), problems }
}

describe('good', () => {
  test.each([
    ['https://logs.example.com/api/v1', 'https://logs.example.com/api/v1'],
    ['https://logs.example.com/api/v1/', 'https://logs.example.com/api/v1'],
    ['  HTTPS://Logs.Example.com:443/api/v1\n', 'https://logs.example.com/api/v1'],
    ['https://logs.example.com:8443/tenants/a/api/v1', 'https://logs.example.com:8443/tenants/a/api/v1'],
    ['http://localhost:4319/api/v1', 'http://localhost:4319/api/v1'],
    ['http://127.8.9.10/api/v1', 'http://127.8.9.10/api/v1'],
    ['http://[::1]:4319/api/v1', 'http://[::1]:4319/api/v1'],
  ])('%s', (given, url) => {
    expect(judged(given)).toEqual({ url, problems: [] })
  })

  test('accepts plain http to other hosts only with allowInsecure', () => {
    expect(judged('http://logs.example.com/api/v1', true).problems).toEqual([])
  })
})

describe('bad', () => {
  test.each([
    ['http://logs.example.com/api/v1', 'url must be https, since the key travels in it'],
    ['http://localhost.example.com/api/v1', 'be https'],
    ['http://127.0.0.1.example.com/api/v1', 'be https'],
    ['http://0.0.0.0/api/v1', 'be https'],
    ['https://logs.example.com', 'end with /api/v1, got https://logs.example.com/'],
    ['https://logs.example.com/api/v2', 'end with /api/v1'],
    ['https://logs.example.com/api/v1?', 'hold no query and no fragment'],
    ['https://logs.example.com/api/v1#', 'hold no query and no fragment'],
    ['https://user@logs.example.com/api/v1', 'hold no user name or password'],
    ['ftp://logs.example.com/api/v1', 'begin with https:// or http://, got "ftp:"'],
    ['javascript:alert(1)', 'begin with https:// or http://'],
    ['logs.example.com/api/v1', 'be an absolute URL'],
    ['https://', 'be an absolute URL such as https://logs.example.com/api/v1, got "https://"'],
    ['https://a b/api/v1', 'got "https://a b/api/v1"'],
  ])('%s', (given, words) => {
    expect(judged(given).problems.join('; ')).toContain(words)
  })

  // Values that may contain a password or a key are not repeated.
  test.each([
    'https://user:hunter2@logs.example.com/api/v1',
    'user:hunter2@logs.example.com/api/v1',
    '1:hunter2@logs.example.com',
    'ftp://user:hunter2@host/api/v1',
    'https://logs.example.com/api/v1?key=hunter2',
    'https://a b/api/v1?key=hunter2',
    'hunter2',
    'https://hunter2:@logs.example.com/api/v1',
    'https://user:hunter2@/x y@z',
  ])('%s: the message does not show the secret', (given) => {
    const message = problem({ url: given, apiKey: 'k' })
    expect(message).not.toMatch(/hunter2|ter2@/)
    expect(message).toContain('url must')
  })

  test('a URL of another type: the message does not show the password', () => {
    expect(problem({ url: new URL('https://user:hunter2@logs.example.com/api/v1'), apiKey: 'k' })).toMatch(
      /url must be text.*…@logs/,
    )
    expect(problem({ url: ['https://user:hunter2@logs.example.com/api/v1'], apiKey: 'k' })).not.toContain('hunter2')
  })
})

test('validates any text without throwing, and accepts only safe URLs', () => {
  const nearly = fc
    .tuple(
      fc.constantFrom('https://', 'https://', 'http://', 'HTTP://', 'ftp://', '//', ''),
      fc.constantFrom('', '', '', 'user:pw@', '@'),
      fc.oneof(fc.domain(), fc.ipV4(), fc.constantFrom('localhost', '127.0.0.1', '[::1]', '')),
      fc.constantFrom('', '', ':1', ':99999'),
      fc.constantFrom('/api/v1', '/api/v1/', '', '/x/api/v1//', '/api/v1/%2e%2e/'),
      fc.constantFrom('', '', '', '?a', '#b'),
    )
    .map((parts) => parts.join(''))
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.webUrl(), { weight: 4, arbitrary: nearly })
  let accepted = 0
  fc.assert(
    fc.property(text, fc.boolean(), (given, allowInsecure) => {
      const { url, problems } = judged(given, allowInsecure)
      if (problems.length > 0) return
      accepted += 1
      const parsed = new URL(url)
      expect([parsed.username, parsed.password, parsed.search, parsed.hash]).toEqual(['', '', '', ''])
      expect(url.endsWith('/api/v1')).toBe(true)
      expect(parsed.protocol === 'https:' || allowInsecure || isLoopback(url)).toBe(true)
      expect(judged(url, allowInsecure)).toEqual({ url, problems: [] })
    }),
    { numRuns: 150 },
  )
  expect(accepted).toBeGreaterThan(2)
})

describe('proxies', () => {
  const place = { url: 'https://logs.example.com/api/v1', apiKey: 'k' }

  test.each([
    ['https://x/', { HTTPS_PROXY: 'http://p:1' }, 'http://p:1'],
    ['https://x/', { https_proxy: 'http://a:1', HTTPS_PROXY: 'http://b:1' }, 'http://a:1'],
    ['http://x/', { HTTPS_PROXY: 'http://p:1' }, undefined],
    ['http://x/', { http_proxy: '', HTTP_PROXY: ' http://p:1 ' }, 'http://p:1'],
    ['https://x/', { HTTPS_PROXY: 'p.local:3128' }, 'http://p.local:3128'],
    ['https://x/', {}, undefined],
  ])('%s %o', (url, env, proxy) => {
    expect(findProxy(url, env)?.value).toBe(proxy)
  })

  test('is read from the environment, and not used for loopback', () => {
    const env = { HTTPS_PROXY: 'http://p:1', HTTP_PROXY: 'http://p:2' }
    expect(resolve(place, env).proxy).toBe('http://p:1')
    expect(resolve({ ...place, url: 'http://localhost:1/api/v1' }, env).proxy).toBe(false)
  })

  test.each([
    ['https://logs.example.com', '*'],
    ['https://logs.example.com', ' * '],
    ['https://logs.example.com', 'a,*'],
    ['https://logs.example.com', 'a logs.example.com'],
    ['https://logs.example.com', 'a,, LOGS.Example.COM'],
    ['https://logs.example.com', 'example.com'],
    ['https://logs.example.com', '.example.com'],
    ['https://logs.example.com.', '.example.com'],
    ['https://logs.example.com', 'logs.example.com:443'],
    ['http://logs.example.com:8080', 'example.com:8080'],
    ['http://logs.example.com', '*:80'],
    ['https://10.1.2.3', '10.1.2.3'],
    ['https://[fe80::1]', 'fe80::1'],
    ['https://[fe80::1]:8443', '[FE80::1]:8443'],
  ])('is not used for %s with NO_PROXY=%s', (origin, NO_PROXY) => {
    const env = { https_proxy: 'http://p:1', http_proxy: 'http://p:1' }
    const to = { ...place, url: `${origin}/api/v1`, allowInsecure: true }
    expect(resolve(to, { ...env, NO_PROXY }).proxy).toBe(false)
    expect(resolve(to, { ...env, no_proxy: NO_PROXY, NO_PROXY: 'other' }).proxy).toBe(false)
    expect(resolve(to, { PINO_INGEST_PROXY: 'http://p:2', NO_PROXY }).proxy).toBe('http://p:2')
  })

  test.each([
    ['https://logs.example.com', ''],
    ['https://logs.example.com', ' , .'],
    ['https://logs.example.com', 'ample.com'],
    ['https://logs.example.com', 'x.logs.example.com'],
    ['https://logs.example.com', 'example.com:80'],
    ['https://[fe80::1]', 'fe80::2'],
  ])('is used for %s with NO_PROXY=%s', (origin, NO_PROXY) => {
    const to = { ...place, url: `${origin}/api/v1` }
    expect(resolve(to, { HTTPS_PROXY: 'http://p:1', NO_PROXY }).proxy).toBe('http://p:1')
  })

  test.each([
    [{ proxy: 'socks5://user:hunter2@p' }, {}, 'http://proxy.example.com:3128'],
    [{ proxy: true }, {}, 'proxy must be'],
    [{ proxy: 'user:hunter2@p:3128' }, {}, 'proxy must be'],
    [{}, { HTTPS_PROXY: 'socks5://user:hunter2@p' }, 'or false, got text of 23 characters (not shown)'],
    [{}, { https_proxy: 'http://user:hunter2@bad host' }, 'https_proxy must be'],
  ])('rejects %o %o without showing the password', (options, env, words) => {
    const message = problem({ ...place, ...options }, env)
    expect(message).toContain(words)
    expect(message).not.toContain('hunter2')
  })
})

test.each([
  ['10.0.0.5:8080/api/v1', '10.0.0.5:8080/api/v1'],
  ['localhost:4319', 'localhost:4319'],
  ['/api/v1', '/api/v1'],
  ['https://user:hunter2@logs.example.com:x/?key=hunter2', 'https://…@logs.example.com:x/…'],
  ['x', 'text of 1 character '],
])('%s: the message shows %s', (given, shown) => {
  const message = problem({ url: given, apiKey: 'k' })
  expect(message).toContain(shown)
  expect(message).not.toContain('hunter2')
})
