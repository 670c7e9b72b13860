/** No value is lost: every leaf of every record is in its entry. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { Mapper } from '../../src/record/mapper.js'
import { modelRuns } from '../model-runs.js'
import { leaves, missingLeaves } from './leaves.js'
import { KEYS, RECEIVED_AT, anyLine, corpus, createMappingOptions } from './record-lines.js'
import { mapLine } from './map-line.js'

const PINO = createMappingOptions().levels
const METADATA = { region: 'eu', a: 'option', error: 'mine' }

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
      metadata: METADATA,
      fingerprint: true,
    }),
  ],
  [
    'other keys',
    createMappingOptions({ messageKey: 'message', errorKey: 'error', levels: { ...PINO, 35: 'audit', 25: 'http' } }),
  ],
  ['a wrapper', createMappingOptions({ nestedKey: 'payload' })],
]

/** A record in which no two leaves are equal: `§` becomes a text, `#` a number. */
const numberedLine = fc
  .array(
    fc.tuple(
      fc.constantFrom(...KEYS),
      fc.letrec<{ value: string }>((tie) => ({
        value: fc.oneof(
          { maxDepth: 3 },
          fc.constantFrom('"§"', '#'),
          fc.array(tie('value'), { maxLength: 3 }).map((items) => `[${items.join(',')}]`),
          fc
            .uniqueArray(fc.tuple(fc.constantFrom('id', 'email', 'name', 'x', 'plan', 'status'), tie('value')), {
              maxLength: 4,
              selector: ([key]) => key,
            })
            .map((members) => `{${members.map(([key, value]) => `"${key}":${value}`).join(',')}}`),
        ),
      })).value,
    ),
    { maxLength: 12 },
  )
  .map((members) => {
    let count = 1_000
    const text = members.map(([key, value]) => `"${key}":${value}`).join(',')
    // With a message of its own, an entry does not take the error's.
    return `{${[text, '"msg":"§","message":"§"']
      .filter(Boolean)
      .join(',')
      .replaceAll(/§|#/g, (mark) => (mark === '§' ? `v${++count}` : String(++count)))}}`
  })

describe.each(configurations)('with %s', (_, options) => {
  const mapper = new Mapper(options, -1, () => Date.parse(RECEIVED_AT))
  const entryOf = (raw: string): LogEntry => JSON.parse(mapLine(mapper, raw.replace(/\r$/, '')).json) as LogEntry
  const lost = (raw: string): string[] => missingLeaves(raw, entryOf(raw), options)

  test('no value of the corpus is lost', () => {
    for (const { label, raw } of corpus) expect(lost(raw), label).toEqual([])
  })

  test('no value of a generated line is lost', () => {
    fc.assert(
      fc.property(anyLine, (raw) => {
        expect(lost(raw)).toEqual([])
      }),
      { numRuns: modelRuns(150, 50_000) },
    )
  })

  test('no value is sent twice', () => {
    fc.assert(
      fc.property(numberedLine, (raw) => {
        expect(lost(raw)).toEqual([])
        const sent = leaves(entryOf(raw)).map(({ text }) => text)
        const twice = leaves(JSON.parse(raw), { isChecked: true }).filter(
          ({ text }) => sent.indexOf(text) !== sent.lastIndexOf(text),
        )
        expect(twice).toEqual([])
      }),
      { numRuns: modelRuns(150, 50_000) },
    )
  })
})

test('the check detects missing and foreign leaves', () => {
  const options = createMappingOptions()
  const raw = '{"level":30,"time":1,"user":{"id":"u","x":[1,2]},"a":true,"msg":"m"}'
  const entry: LogEntry = {
    level: 'info',
    message: 'm',
    timestamp: RECEIVED_AT,
    user: { id: 'u' },
    metadata: { user: { x: [1, 2] }, a: true },
  }
  expect(missingLeaves(raw, entry, options)).toEqual([])
  expect(missingLeaves(raw, { ...entry, user: {} }, options)).toEqual(['user.id is missing'])
  expect(missingLeaves(raw, { ...entry, metadata: { user: { x: [1] }, a: true, b: 3 } }, options)).toEqual([
    'user.x.1 is missing',
    'b is not in the record',
  ])
})
