/** Every line gives exactly one valid entry, for any content. `process/corpus.process.test.ts` sends 10,000 of them through the worker. */
import { describe, expect, test } from 'vitest'
import { Mapper } from '../../src/record/mapper.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { modelRuns } from '../model-runs.js'
import { hostileLines } from './hostile-lines.js'
import { RECEIVED_AT, createMappingOptions } from './record-lines.js'
import { faults } from './valid-entry.js'
import { mapLine } from './map-line.js'

const SEED = 20_261_121
const wallNow = (): number => Date.parse(RECEIVED_AT)

const configurations: [string, MappingOptions, number][] = [
  ['no options', createMappingOptions(), modelRuns(2_000, 10_000)],
  [
    'options that name what records name',
    createMappingOptions({
      service: 's',
      fallbackService: 'f',
      environment: 'e',
      version: 'v',
      releaseId: 'r',
      deploy: { commit: 'c' },
      tags: ['t'],
      metadata: { error: 1, err: 2, req: 3, res: 4, level: 5, name: 6, a: 7, pino_ingest: 8 },
      fingerprint: true,
      levels: { 10: 'trace', 20: 'debug', 30: 'info', 35: 'audit', 40: 'warn', 50: 'error', 60: 'fatal' },
    }),
    2_000,
  ],
  ['other keys', createMappingOptions({ messageKey: 'message', errorKey: 'error', nestedKey: 'a' }), 1_000],
  [
    'keys of the language',
    createMappingOptions({ messageKey: 'toString', errorKey: '__proto__', nestedKey: 'constructor' }),
    1_000,
  ],
  ['4 KiB an entry', createMappingOptions({ maxEntryBytes: 4_096 }), 2_000],
  ['1 KiB an entry', createMappingOptions({ maxEntryBytes: 1_024, fingerprint: true }), 1_000],
]

/** The first problem with its line. One `expect` per line would take longer than the mapping. */
function firstFault(lines: Iterable<string>, map: (line: string) => string, maxEntryBytes: number): string | undefined {
  for (const line of lines) {
    const found = faults(map(line), maxEntryBytes)
    if (found.length > 0) return `${found.join(', ')} of ${line.slice(0, 2_000)}`
  }
  return undefined
}

describe.each(configurations)('with %s', (_, options, count) => {
  const isLargeWanted = count > 1_000

  test('the mapper returns one valid entry per line', () => {
    const mapper = new Mapper(options, -1, wallNow)
    expect(
      firstFault(
        hostileLines(count, SEED, { isLargeWanted }),
        (line) => {
          return mapLine(mapper, line).json
        },
        options.maxEntryBytes,
      ),
    ).toBeUndefined()
  })

  test('so does the reference path', () => {
    const lines = hostileLines(count / 2, SEED + 1, { isLargeWanted })
    expect(
      firstFault(lines, (line) => mapByParsing(line, options, RECEIVED_AT).json, options.maxEntryBytes),
    ).toBeUndefined()
  })
})

test('no record changes a prototype', () => {
  const before = [Object.prototype, Array.prototype, String.prototype].map((one) => Reflect.ownKeys(one).length)
  const mapper = new Mapper(createMappingOptions({ nestedKey: '__proto__' }), -1, wallNow)
  for (const line of [
    '{"level":30,"time":1,"__proto__":{"polluted":true},"msg":"a"}',
    '{"level":30,"time":1,"constructor":{"prototype":{"polluted":true}},"msg":"a"}',
    '{"level":30,"time":1,"metadata":{"__proto__":{"polluted":true}},"msg":"a"}',
    '{"level":30,"time":1,"err":{"type":"E","__proto__":{"polluted":true},"cause":{"stack":"s","message":"m","__proto__":{"polluted":true}}},"msg":"a"}',
    '{"level":30,"time":1,"user":{"__proto__":{"polluted":true}},"breadcrumbs":[{"__proto__":{"polluted":true}}],"msg":"a"}',
  ]) {
    expect(mapLine(mapper, line).json).toContain('polluted')
    expect(mapByParsing(line, createMappingOptions(), RECEIVED_AT).json).toContain('polluted')
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect([Object.prototype, Array.prototype, String.prototype].map((one) => Reflect.ownKeys(one).length)).toEqual(
    before,
  )
})

test('the validator itself detects errors', () => {
  const good = { level: 'info', message: 'm', timestamp: RECEIVED_AT }
  expect(faults(JSON.stringify(good), 1_000)).toEqual([])
  for (const bad of [
    { ...good, level: 'trace' },
    { ...good, message: 5 },
    { ...good, timestamp: '2026-11-21T12:00:00Z' },
    { level: 'info', message: 'm' },
    { ...good, extra: 1 },
    { ...good, user: { id: 1 } },
    { ...good, request: { status_code: 1.5 } },
    { ...good, perf: { duration_ms: null } },
    { ...good, tags: [1] },
    { ...good, notify: 'yes' },
    { ...good, metadata: [] },
    { ...good, metadata: { a: '\0' } },
    { ...good, metadata: { '\ud800': 1 } },
    { ...good, breadcrumbs: [{ timestamp: 'x' }] },
    { ...good, message: 'x'.repeat(1_000) },
  ])
    expect(faults(JSON.stringify(bad), 1_000), JSON.stringify(bad)).not.toEqual([])
  expect(
    faults('{"level":"info","level":"info","message":"m","timestamp":"2026-11-21T12:00:00.000Z"}', 1_000),
  ).not.toEqual([])
  for (const metadata of ['{"a":1e400}', '{"a":1,"b":2,"a":3}']) {
    expect(
      faults(`{"level":"info","message":"m","timestamp":"2026-11-21T12:00:00.000Z","metadata":${metadata}}`, 1_000),
    ).not.toEqual([])
  }
})
