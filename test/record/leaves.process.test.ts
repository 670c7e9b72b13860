/** No value is lost: every leaf of every record is in the field that the field table names for it. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { Mapper } from '../../src/record/mapper.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { hostileLines } from './hostile-lines.js'
import { modelRuns } from '../model-runs.js'
import { missingLeaves } from './leaves.js'
import {
  RECEIVED_AT,
  brokenLine,
  corpus,
  looseLine,
  createMappingOptions,
  pinoLine,
  usualLine,
} from './record-lines.js'
import { mapLine } from './map-line.js'

/** `reference/dialects.test.ts` checks lines of other formats. */
const OTHER_FORMAT = /"ecs"|googleapis/
const PINO = createMappingOptions().levels

const configurations: [string, MappingOptions][] = [
  ['no options', createMappingOptions()],
  [
    'every option',
    createMappingOptions({
      service: 'checkout',
      fallbackService: 'app',
      environment: 'test',
      version: '1.2.3',
      releaseId: 'rel_1',
      deploy: { commit: 'abc' },
      tags: ['t1'],
      metadata: { region: 'eu', a: 1, error: 'mine' },
      fingerprint: true,
    }),
  ],
  [
    'other keys',
    createMappingOptions({ messageKey: 'message', errorKey: 'error', levels: { ...PINO, 35: 'audit', 25: 'http' } }),
  ],
  ['a wrapper', createMappingOptions({ nestedKey: 'payload' })],
]

/** The configuration of the application that wrote the record. */
function optionsFor(label: string): MappingOptions {
  if (label === 'messageKey=message') return createMappingOptions({ messageKey: 'message' })
  if (label === 'errorKey=error') return createMappingOptions({ errorKey: 'error' })
  if (label === 'nestedKey') return createMappingOptions({ nestedKey: 'payload' })
  if (/custom ?levels/i.test(label))
    return createMappingOptions({ levels: label === 'useOnlyCustomLevels' ? { 100: 'bar' } : { ...PINO, 35: 'audit' } })
  return createMappingOptions()
}

/** Of one path: `kernel/kernel.process.test.ts` shows that both give the same entry. */
function lost(raw: string, options: MappingOptions): string[] {
  const line = raw.replace(/\r$/, '')
  const { json } = mapLine(new Mapper(options, -1, () => Date.parse(RECEIVED_AT)), line)
  return missingLeaves(raw, JSON.parse(json) as LogEntry, options)
}

test.each(corpus.map(({ label, raw }) => [label, raw] as const))('corpus: %s', (label, raw) => {
  expect(lost(raw, optionsFor(label))).toEqual([])
})

describe.each(configurations)('with %s', (_, options) => {
  test.each(corpus.map(({ label, raw }) => [label, raw] as const))('corpus: %s', (_label, raw) => {
    expect(lost(raw, options)).toEqual([])
  })

  test.each([
    ['usual', usualLine],
    ['pino', pinoLine],
    ['loose', looseLine],
    ['broken', brokenLine],
  ] as const)('generated: %s', (_kind, line) => {
    fc.assert(
      fc.property(line, (raw) => {
        expect(lost(raw, options)).toEqual([])
      }),
      { numRuns: modelRuns(250, 5_000) },
    )
  })

  test('hostile', () => {
    // Half a character does not survive the encoding.
    const lines = [...hostileLines(modelRuns(500, 10_000), 7, { isLargeWanted: false })]
      .map((raw) => Buffer.from(raw).toString())
      .filter((raw) => !OTHER_FORMAT.test(raw))
    expect(lines.length).toBeGreaterThan(450)
    expect(
      lines.map((raw) => ({ raw: raw.slice(0, 5_000), lost: lost(raw, options) })).filter((one) => one.lost.length > 0),
    ).toEqual([])
  })
})

test('the check detects missing and duplicate leaves', () => {
  const options = createMappingOptions()
  let judged = 0
  for (const { label, raw } of corpus) {
    if (optionsFor(label).nestedKey !== undefined || raw.length > 10_000) continue
    const json = mapByParsing(raw.replace(/\r$/, ''), options, RECEIVED_AT).json
    for (const field of Object.keys(JSON.parse(json) as LogEntry)) {
      // These values are not in the record, or also in another field.
      if (['level', 'message', 'timestamp', 'source'].includes(field)) continue
      const entry = JSON.parse(json) as Record<string, unknown>
      delete entry[field]
      expect(missingLeaves(raw, entry as unknown as LogEntry, options), `${label} without ${field}`).not.toEqual([])
      judged += 1
    }
    const twice = JSON.parse(json) as LogEntry
    twice.metadata = { ...twice.metadata, again: twice.message }
    expect(missingLeaves(raw, twice, options), label).not.toEqual([])
  }
  expect(judged).toBeGreaterThan(100)
})
