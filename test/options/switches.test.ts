/** Variables that are a switch or another value accept the same words as every other switch. */
import { describe, expect, test } from 'vitest'
import { problem, resolve } from './resolve.js'

const DEFAULT_BREADCRUMBS = { limit: 50, level: 'debug', maxBytes: 8 * 1024 * 1024 }

const WORDS: readonly [string, boolean][] = [
  ['1', true],
  ['0', false],
  ['true', true],
  ['false', false],
  ['TRUE', true],
  ['False', false],
]

test.each(WORDS)('%s means the same as in PINO_INGEST_RELEASE', (word, on) => {
  expect(resolve({}, { PINO_INGEST_RELEASE: word }).release).toBe(on)
  expect(resolve({}, { PINO_INGEST_REQUEST_LOGS: word }).requestLogs).toMatchObject({ enabled: on, only: false })
  expect(resolve({}, { PINO_INGEST_BREADCRUMBS: word }).breadcrumbs).toEqual(on ? DEFAULT_BREADCRUMBS : false)
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

  test('rejects 1 and 0 in code, like other switches', () => {
    expect(problem({ requestLogs: 1 })).toContain('requestLogs must be')
    expect(problem({ requestLogs: 'only' })).toContain(
      'requestLogs must be true, false or an object with enabled, only, ignore, keys (in a variable: JSON or only; in code { only: true }), got "only"',
    )
    expect(problem({ breadcrumbs: 0 })).toContain('breadcrumbs must be')
    expect(problem({ release: 1 })).toContain('release must be')
  })
})
