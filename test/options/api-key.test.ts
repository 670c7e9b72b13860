/** A key from a file is read again; a key from elsewhere never changes. */
import { expect, test } from 'vitest'
import { resolve } from './resolve.js'
import type { Env } from './resolve.js'

const FIRST = 'first-key-4711'
const SECOND = 'second-key-0815'
const URL_ENV: Env = { PINO_INGEST_URL: 'https://logs.example.com/api/v1' }
const FILE_ENV: Env = { ...URL_ENV, PINO_INGEST_API_KEY_FILE: '/run/key' }

test('the current key is that of the file, once it is read again', () => {
  const files: Record<string, string> = { '/run/key': `${FIRST}\n` }
  const { apiKey, secrets } = resolve({}, FILE_ENV, files)
  const changes: string[] = []
  apiKey.changed.on((key) => changes.push(key))
  expect(apiKey.reread()).toBe(false)
  files['/run/key'] = ` ${SECOND}\r\n`
  expect(apiKey.reveal()).toBe(FIRST)
  expect(apiKey.reread()).toBe(true)
  expect(apiKey.reveal()).toBe(SECOND)
  expect(apiKey.reread()).toBe(false)
  files['/run/key'] = FIRST
  expect(apiKey.reread()).toBe(true)
  expect(changes).toEqual([SECOND, FIRST])
  expect(new Set(secrets.map((secret) => secret.reveal()))).toEqual(new Set([FIRST, SECOND]))
  expect(String(apiKey)).toBe('[secret]')
})

test.each<[string, string | undefined]>([
  ['is missing', undefined],
  ['is empty', ''],
  ['contains only a line break', '\n'],
  ['contains two lines', `${SECOND}\n${SECOND}\n`],
  ['contains a URL', 'https://logs.example.com/api/v1'],
  ['contains the same key', `${FIRST}\n\n`],
])('a file that %s changes nothing', (_, text) => {
  const files: Record<string, string> = { '/run/key': FIRST }
  const { apiKey } = resolve({}, FILE_ENV, files)
  if (text === undefined) delete files['/run/key']
  else files['/run/key'] = text
  expect(apiKey.reread()).toBe(false)
  expect(apiKey.reveal()).toBe(FIRST)
})

test.each<[string, Record<string, unknown>, Env]>([
  ['in code', { apiKey: FIRST }, FILE_ENV],
  ['in a variable', {}, { ...URL_ENV, PINO_INGEST_API_KEY: FIRST }],
  ['in a variable and in a file', {}, { ...FILE_ENV, PINO_INGEST_API_KEY: FIRST }],
  ['in a file, but without a URL', {}, { PINO_INGEST_API_KEY_FILE: '/run/key' }],
])('a key %s is not read again', (_, options, env) => {
  const files: Record<string, string> = { '/run/key': FIRST }
  const { apiKey } = resolve(options, env, files)
  const before = apiKey.reveal()
  files['/run/key'] = SECOND
  expect(apiKey.reread()).toBe(false)
  expect(apiKey.reveal()).toBe(before)
})
