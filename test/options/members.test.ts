/** Options that are objects: the message names the member that is wrong, its rule and what was received. */
import { expect, test } from 'vitest'
import { problem, resolve } from './resolve.js'

const PLACE = { url: 'https://logs.example.com/api/v1', apiKey: 'key-4711' }

test.each<[Record<string, unknown>, string]>([
  [{ spool: { maxBytes: 5 } }, 'spool: maxBytes must be an integer from 1048576 to 1099511627776 (bytes), got 5'],
  [
    { spool: { dir: '/spool', maxAgeMs: '7d' } },
    'spool: maxAgeMs must be an integer from 1000 to 315360000000 (ms), got "7d"',
  ],
  [{ spool: { durability: 'disk' } }, 'spool: durability must be process or power, got "disk"'],
  [{ spool: { dir: '' } }, 'spool: dir must be a path, got ""'],
  [{ spool: { maxByte: 1 } }, 'spool: it has no maxByte, did you mean maxBytes?'],
  [{ spool: { zzzzzzzz: 1 } }, 'spool: it has no zzzzzzzz, only dir, maxBytes, maxAgeMs, durability'],
  [{ spool: { dir: 5, maxAgeMs: 1 } }, 'spool: dir must be a path, got 5, and maxAgeMs must be'],
  [{ breadcrumbs: { limit: 0 } }, 'breadcrumbs: limit must be an integer from 1 to 1000, got 0'],
  [
    { breadcrumbs: { level: 'all' } },
    'breadcrumbs: level must be one of trace, debug, info, warn, error, fatal, got "all"',
  ],
  [{ breadcrumbs: { constructor: 1 } }, 'breadcrumbs: it has no constructor, only limit, level, maxBytes'],
])('%j', (options, words) => {
  expect(problem({ ...PLACE, ...options })).toContain(`invalid configuration of pino-ingest: ${words}`)
})

test.each(['spool', 'breadcrumbs'])('%s that is no object breaks the whole rule', (name) => {
  for (const value of ['./here', 5, ['dir'], new Map()])
    expect(problem({ ...PLACE, [name]: value })).toMatch(new RegExp(`: ${name} must be .*, got `))
})

test('from a variable, it is named', () => {
  expect(problem(PLACE, { PINO_INGEST_BREADCRUMBS: '{"limit":0}' })).toContain(
    'PINO_INGEST_BREADCRUMBS: limit must be an integer from 1 to 1000, got 0',
  )
})

test('what is undefined is not given', () => {
  expect(resolve({ ...PLACE, spool: { dir: '/spool', maxBytes: undefined } }).spool).toMatchObject({
    dir: '/spool',
    maxBytes: 268_435_456,
  })
})
