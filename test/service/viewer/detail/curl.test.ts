/** A logged request as a curl command: a POSIX shell parses it to exactly this request, whatever was logged. */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { JsonObject, LogEntry } from '../../../../src/protocol/log-entry.js'
import { formatCurlCommand } from '../../../../src/service/viewer/detail/curl.js'
import { isWindows } from '../../../platform.js'

const of = (request: LogEntry['request'], metadata?: JsonObject): string | null =>
  formatCurlCommand({
    level: 'info',
    message: 'request completed',
    timestamp: '2026-01-01T00:00:00.000Z',
    ...(request !== undefined && { request }),
    ...(metadata !== undefined && { metadata }),
  })

test('method, URL and user agent', () => {
  expect(
    of({ method: 'POST', url: 'https://shop.example.com/orders?a=1&b=2', path: '/orders', user_agent: "it's" }),
  ).toBe(String.raw`curl -X POST 'https://shop.example.com/orders?a=1&b=2' -H 'User-Agent: it'\''s'`)
  expect(of({ method: 'GET', url: 'http://h/' })).toBe(`curl 'http://h/'`)
  expect(of({ method: 'HEAD', url: 'http://h/a[1]' })).toBe(`curl --globoff --head 'http://h/a[1]'`)
})

test('a path gets the host of the logged headers; the headers are unchanged', () => {
  const headers = {
    host: 'shop:3000',
    accept: ['a/b', 'c/d'],
    authorization: '[REDACTED]',
    'content-length': 17,
    no: null,
  }
  const command = `curl -X PUT 'http://shop:3000/x' -H 'accept: a/b, c/d' -H 'authorization: [REDACTED]'`
  for (const metadata of [
    { req: { headers } },
    { request: { headers } },
    { http: { request: { headers } } },
    { headers },
  ])
    expect(of({ method: 'put', path: '/x' }, metadata)).toBe(command)
})

test('without a usable host, that of HTTP/2 or of a proxy', () => {
  expect(of({ path: '/x' }, { headers: { host: 'a b', ':authority': 'h2:443' } })).toContain("'http://h2:443/x'")
  expect(of({ path: '/x' }, { headers: { 'x-forwarded-host': 'shop' } })).toContain("'http://shop/x'")
})

test('an unknown host is a placeholder', () => expect(of({ path: '/x' })).toBe(`curl 'http://<host>/x'`))

test('no command without URL and path', () => {
  expect(of(undefined)).toBeNull()
  expect(of({ method: 'GET', url: '' })).toBeNull()
})

/** Returns the words of a command as a shell parses them. */
function wordsOf(command: string): readonly string[] {
  const output = execFileSync('sh', ['-c', `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }\n${command}`])
  return output.toString('utf8').split('\0').slice(0, -1)
}

test.skipIf(isWindows)('any logged text becomes one URL and headers, without control characters', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom(
      `'; touch /tmp/x; '`,
      '$(id)',
      '`id`',
      '-o/tmp/x',
      '@/etc/passwd',
      '\u001B[201~\nid\n',
      '--help',
      '{a,b}',
    ),
  )
  fc.assert(
    fc.property(text, text, text, (target, method, header) => {
      const command =
        of({ method, url: target, user_agent: header }, { headers: { [header]: header, 'x-a': header } }) ?? ''
      // oxlint-disable-next-line no-control-regex -- these must not be in it
      expect(command).not.toMatch(/[\u0000-\u001F\u007F-\u009F]/)
      const words = [...wordsOf(command)]
      const urls: string[] = []
      for (let word = words.shift(); word !== undefined; word = words.shift()) {
        if (word === '-H') expect(words.shift()).toMatch(/^[^\s@:][^\s:]*: /)
        else if (word === '-X') expect(words.shift()).toMatch(/^[A-Z][A-Z-]*$/)
        else if (word !== '--globoff' && word !== '--head') urls.push(word)
      }
      expect(urls).toHaveLength(1)
      expect(urls[0]).toMatch(/^https?:\/\//i)
    }),
    { numRuns: 60 },
  )
})
