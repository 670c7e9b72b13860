/** The variables of what is a switch and more: their words are those of every other switch. */
import { describe, expect, test } from 'vitest'
import { DEFAULT_BREADCRUMBS } from '../../src/options/breadcrumb-settings.js'
import { problem, resolve } from './resolve.js'

const WORDS: readonly [string, boolean][] = [
  ['1', true],
  ['0', false],
  ['true', true],
  ['false', false],
  ['TRUE', true],
  ['False', false],
]

test.each(WORDS)('%s is taken as PINO_INGEST_RELEASE takes it', (word, on) => {
  expect(resolve({}, { PINO_INGEST_RELEASE: word }).release).toBe(on)
  expect(resolve({}, { PINO_INGEST_REQUEST_LOGS: word }).requestLogs).toBe(on)
  expect(resolve({}, { PINO_INGEST_BREADCRUMBS: word }).breadcrumbs).toEqual(on ? DEFAULT_BREADCRUMBS : false)
})

describe('beside those', () => {
  test('only, and JSON', () => {
    expect(resolve({}, { PINO_INGEST_REQUEST_LOGS: 'only' }).requestLogs).toBe('only')
    expect(resolve({}, { PINO_INGEST_BREADCRUMBS: '{"limit":10}' }).breadcrumbs).toEqual({
      ...DEFAULT_BREADCRUMBS,
      limit: 10,
    })
  })

  test.each(['2', 'yes', 'on', '-1', '"only"x', '[1]'])('%s is refused', (word) => {
    expect(problem({}, { PINO_INGEST_REQUEST_LOGS: word })).toContain('PINO_INGEST_REQUEST_LOGS')
    expect(problem({}, { PINO_INGEST_BREADCRUMBS: word })).toContain('PINO_INGEST_BREADCRUMBS')
  })

  test('in code 1 and 0 are no switch, as for the others', () => {
    expect(problem({ requestLogs: 1 })).toContain('requestLogs must be')
    expect(problem({ breadcrumbs: 0 })).toContain('breadcrumbs must be')
    expect(problem({ release: 1 })).toContain('release must be')
  })
})
