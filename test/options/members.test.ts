/** Options that are objects: the message names the wrong member, its rule and the received value. */
import { expect, test } from 'vitest'
import { problem, resolve } from './resolve.js'

const PLACE = { url: 'https://logs.example.com/api/v1', apiKey: 'key-4711' }

test.each<[Record<string, unknown>, string]>([
  [{ spool: { dir: 5, maxAgeMs: '7d' } }, 'spool.dir must be a path, got 5; spool.maxAgeMs must be'],
  [{ spool: { durability: 'disk' } }, 'spool.durability must be one of process, power, got "disk"'],
  [{ spool: { maxByte: 1 } }, 'spool has no maxByte, did you mean maxBytes?'],
  [{ spool: { zzzzzzzz: 1 } }, 'spool has no zzzzzzzz, only enabled, dir, maxBytes, maxAgeMs, durability'],
  [{ breadcrumbs: { limit: 0 } }, 'breadcrumbs.limit must be an integer from 1 to 1000, got 0'],
  [{ breadcrumbs: { constructor: 1 } }, 'breadcrumbs has no constructor, only enabled, limit, level'],
])('%j', (options, words) => {
  expect(problem({ ...PLACE, ...options })).toContain(words)
})

test.each(['spool', 'breadcrumbs', 'requestLogs', 'batch', 'retry', 'scrub', 'pino', 'deploy', 'sample'])(
  '%s that is not an object violates the rule of the group',
  (name) => {
    for (const value of ['here', 5, new Map()])
      expect(problem({ ...PLACE, [name]: value })).toMatch(new RegExp(`: ${name} must be .*, got `))
  },
)

test('names the variable that has the wrong member', () => {
  expect(problem(PLACE, { PINO_INGEST_BREADCRUMBS: '{"limit":0}' })).toContain(
    'PINO_INGEST_BREADCRUMBS.limit must be an integer from 1 to 1000, got 0',
  )
})

test('an undefined member counts as absent', () => {
  const spool = { dir: '/spool', maxBytes: undefined }
  expect(resolve({ ...PLACE, spool }).spool).toMatchObject({ dir: '/spool', maxBytes: 268_435_456 })
})

test("code wins over variables per member, and a member's own variable over JSON", () => {
  const env = {
    PINO_INGEST_BATCH: '{"size":1,"intervalMs":3}',
    PINO_INGEST_BATCH_SIZE: '2',
  }
  expect(resolve({ ...PLACE, batch: { intervalMs: 5 } }, env).batch).toEqual({ size: 2, intervalMs: 5 })
  expect(resolve(PLACE, env).batch).toEqual({ size: 2, intervalMs: 3 })
  const json = { PINO_INGEST_PINO: '{"nestedKey":"a","customAttributeKeys":{"req":"r","res":"s"}}' }
  expect(resolve({ ...PLACE, pino: { customAttributeKeys: { res: 'own' } } }, json).pino).toEqual({
    nestedKey: 'a',
    customAttributeKeys: { req: 'r', res: 'own' },
  })
})

test('members in code enable a group even if a variable disables it', () => {
  expect(
    resolve({ ...PLACE, breadcrumbs: { limit: 5 } }, { PINO_INGEST_BREADCRUMBS: 'false' }).breadcrumbs,
  ).toMatchObject({
    limit: 5,
  })
  expect(resolve({ requestLogs: { only: true } }, { PINO_INGEST_REQUEST_LOGS: 'false' }).requestLogs.enabled).toBe(true)
  expect(resolve({ ...PLACE, breadcrumbs: true }, { PINO_INGEST_BREADCRUMBS: 'false' }).breadcrumbs).not.toBe(false)
  expect(resolve({ ...PLACE, breadcrumbs: false }, { PINO_INGEST_BREADCRUMBS_LIMIT: '5' }).breadcrumbs).toBe(false)
  expect(resolve({}, { PINO_INGEST_SPOOL_MAX_AGE_MS: '5000' }).spool).toMatchObject({ maxAgeMs: 5_000 })
  expect(resolve({ requestLogs: { enabled: false, only: true } }).requestLogs.enabled).toBe(false)
})
