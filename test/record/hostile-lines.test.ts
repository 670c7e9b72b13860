/** Every line gives exactly one valid entry, for any content. `process/corpus.process.test.ts` sends 10,000 of them through the worker. */
import { describe, expect, test } from 'vitest'
import { Mapper } from '../../src/record/mapper.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { modelRuns } from '../model-runs.js'
import { hostileLines, largeLines } from './hostile-lines.js'
import { RECEIVED_AT, createMappingOptions } from './record-lines.js'
import { faults } from './valid-entry.js'
import { mapLine } from './map-line.js'

const RUNS = modelRuns(150, 10_000)
const wallNow = (): number => Date.parse(RECEIVED_AT)

const configurations: [string, MappingOptions][] = [
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
  ],
  [
    'keys of the language',
    createMappingOptions({ messageKey: 'toString', errorKey: '__proto__', nestedKey: 'constructor' }),
  ],
  ['1 KiB an entry', createMappingOptions({ maxEntryBytes: 1_024, fingerprint: true })],
]

/** The first problem with its line. One `expect` per line would take longer than the mapping. */
function firstFault(lines: Iterable<string>, map: (line: string) => string, maxEntryBytes: number): string | undefined {
  for (const line of lines) {
    const found = faults(map(line), maxEntryBytes)
    if (found.length > 0) return `${found.join(', ')} of ${line.slice(0, 2_000)}`
  }
  return undefined
}

describe.each(configurations)('with %s', (_, options) => {
  const { maxEntryBytes } = options
  const mapper = new Mapper(options, -1, wallNow)

  test('the mapper returns one valid entry per line', () => {
    const lines = hostileLines(RUNS, 1, { isLargeWanted: false })
    expect(firstFault(lines, (line) => mapLine(mapper, line).json, maxEntryBytes)).toBeUndefined()
  })

  test('so does the reference path', () => {
    const lines = hostileLines(RUNS, 2, { isLargeWanted: false })
    expect(firstFault(lines, (line) => mapByParsing(line, options, RECEIVED_AT).json, maxEntryBytes)).toBeUndefined()
  })
})

test('a large, deep or wide line gives one valid entry', () => {
  const options = createMappingOptions({ maxEntryBytes: 4_096, fingerprint: true })
  const mapper = new Mapper(options, -1, wallNow)
  expect(firstFault(largeLines(), (line) => mapLine(mapper, line).json, 4_096)).toBeUndefined()
  expect(firstFault(largeLines(), (line) => mapByParsing(line, options, RECEIVED_AT).json, 4_096)).toBeUndefined()
})

test('no record changes a prototype', () => {
  const sizes = (): number[] => [Object, Array, String].map((one) => Reflect.ownKeys(one.prototype).length)
  const before = sizes()
  const mapper = new Mapper(createMappingOptions({ nestedKey: '__proto__' }), -1, wallNow)
  const polluted = '"__proto__":{"polluted":true}'
  for (const members of [
    polluted,
    '"constructor":{"prototype":{"polluted":true}}',
    `"metadata":{${polluted}}`,
    `"err":{"type":"E",${polluted},"cause":{"stack":"s","message":"m",${polluted}}}`,
    `"user":{${polluted}},"breadcrumbs":[{${polluted}}]`,
  ]) {
    const line = `{"level":30,"time":1,${members},"msg":"a"}`
    expect(mapLine(mapper, line).json).toContain('polluted')
    expect(mapByParsing(line, createMappingOptions(), RECEIVED_AT).json).toContain('polluted')
  }
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  expect(sizes()).toEqual(before)
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
    { ...good, tags: [1] },
    { ...good, metadata: { a: '\0' } },
    { ...good, metadata: { '\ud800': 1 } },
    { ...good, message: 'x'.repeat(1_000) },
  ])
    expect(faults(JSON.stringify(bad), 1_000), JSON.stringify(bad)).not.toEqual([])
  const whole = JSON.stringify(good).slice(0, -1)
  for (const more of ['"level":"info"', '"metadata":{"a":1e400}', '"metadata":{"a":1,"b":2,"a":3}'])
    expect(faults(`${whole},${more}}`, 1_000), more).not.toEqual([])
})
