/** Variables that are a switch or another value accept the same words as every other switch. */
import { describe, expect, test } from 'vitest'
import { problem, resolve } from './resolve.js'

const DEFAULT_BREADCRUMBS = { limit: 50, level: 'debug' }

const WORDS: readonly [string, boolean][] = [
  ['1', true],
  ['0', false],
  ['true', true],
  ['false', false],
  ['TRUE', true],
  ['False', false],
]

test.each(WORDS)('%s means the same as in PINO_INGEST_REGISTER_RELEASE', (word, on) => {
  expect(resolve({}, { PINO_INGEST_REGISTER_RELEASE: word }).registerRelease).toBe(on)
  expect(resolve({}, { PINO_INGEST_REQUEST_LOGS: word }).requestLogs).toMatchObject({ enabled: on, only: false })
  expect(resolve({}, { PINO_INGEST_BREADCRUMBS: word }).breadcrumbs).toEqual(on ? DEFAULT_BREADCRUMBS : false)
  const { spool } = resolve({ url: 'http://127.0.0.1:9/api/v1' }, { PINO_INGEST_SPOOL: word })
  expect(spool).toEqual(on ? expect.objectContaining({ durability: 'process' }) : false)
})

describe('beside those', () => {
  test('accepts only and JSON', () => {
    for (const text of ['only', '{"only":true}'])
      expect(resolve({}, { PINO_INGEST_REQUEST_LOGS: text }).requestLogs).toMatchObject({ enabled: true, only: true })
    expect(resolve({}, { PINO_INGEST_BREADCRUMBS: '{"limit":10}' }).breadcrumbs).toEqual({
      ...DEFAULT_BREADCRUMBS,
      limit: 10,
    })
  })

  test.each(['2', 'yes', 'on', '-1', '"only"x', '[1]'])('rejects %s', (word) => {
    expect(problem({}, { PINO_INGEST_REQUEST_LOGS: word })).toContain('PINO_INGEST_REQUEST_LOGS')
    expect(problem({}, { PINO_INGEST_BREADCRUMBS: word })).toContain('PINO_INGEST_BREADCRUMBS')
  })

  test.each(['off', 'yes'])('a spool is no path %s', (word) => {
    expect(problem({}, { PINO_INGEST_SPOOL: word })).toContain('PINO_INGEST_SPOOL')
  })

  test('rejects 1 and 0 in code, like other switches', () => {
    expect(problem({ requestLogs: 1 })).toContain('requestLogs must be')
    expect(problem({ requestLogs: 'on' })).toContain('requestLogs must be true, false, only or an object')
    expect(problem({ spool: 'yes' })).toContain('spool must be')
    expect(problem({ breadcrumbs: 0 })).toContain('breadcrumbs must be')
    expect(problem({ registerRelease: 1 })).toContain('registerRelease must be')
  })
})

test('a path, a word and a list are short for an object, in code and in the variable', () => {
  expect(resolve({ requestLogs: 'only' }).requestLogs).toEqual(resolve({ requestLogs: { only: true } }).requestLogs)
  expect(resolve({ scrub: ['email'] }).scrub).toEqual(resolve({ scrub: { patterns: ['email'] } }).scrub)
  expect(resolve({}, { PINO_INGEST_SCRUB: '["email"]' }).scrub).toEqual(resolve({ scrub: ['email'] }).scrub)
  expect(resolve({ spool: './logs' }).spool).toMatchObject({ dir: './logs' })
  expect(resolve({}, { PINO_INGEST_SPOOL: '/var/logs' }).spool).toMatchObject({ dir: '/var/logs' })
  expect(problem({ scrub: ['emial'] })).toContain('scrub.patterns')
})

test('names of scrub.keys are added to the built-in ones; an empty list turns them off', () => {
  const builtIn = resolve({}).scrub.keys
  expect(resolve({ scrub: { keys: ['otp', 'token'] } }).scrub.keys).toEqual([...builtIn, 'otp'])
  expect(resolve({}, { PINO_INGEST_SCRUB_KEYS: 'otp' }).scrub.keys).toEqual([...builtIn, 'otp'])
  expect(resolve({ scrub: { keys: [] } }).scrub.keys).toEqual([])
})
