/** Random texts, redacted unchanged, within JSON, by the kernel and on the reference path. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Json } from '../../src/protocol/log-entry.js'
import { Kernel } from '../../src/record/kernel/kernel.js'
import { MappedRecord } from '../../src/record/mapped-record.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { findNextSecret, removeSecretsFromText } from '../../src/redaction/secret-text.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { modelRuns } from '../model-runs.js'
import { RECEIVED_AT, createMappingOptions } from '../record/record-lines.js'

const record = new MappedRecord()

const RUNS = modelRuns(1_500, 100_000)
const redactor = new Redactor({ patterns: [], keys: ['password', 'token', 'pin'] })
const options = createMappingOptions({ redactor })

const piece = fc.constantFrom(
  ...'cookie Authorization x-api-key auth HTTP_COOKIE a.b.cookie token= api_key= name value "value": bearer dXNlcjpwYXNz'.split(
    ' ',
  ),
  ...'xHubSecret password pin a s3cret null 1 - u0026 https:// https:\\/\\/ u:p @ h / %3A%2F%2F %253A%252F%252F %40 %2540'.split(
    ' ',
  ),
  ...'%3A// %22 [removed] [scrubbed] : = => , ; ? & " \' ` \\ \\" "" [ ] { } ( ) > é 😀 \\n \\t \\/'.split(' '),
  ...[
    'Bearer ',
    'Basic ',
    ' : ',
    ' => ',
    ', ',
    '\n',
    '\r\n',
    '\n ',
    '\n\t',
    '\t',
    ' ',
    '\u0001',
    'password": "',
    'at ',
    '    at f',
  ],
  ...['\u001B[1m', '\\\u001B[2m', '\u001B[36;1m', ' +\n ', "\\n' +\n  '", "\\n' +\n  ' "],
)
const text = fc.array(piece, { minLength: 2, maxLength: 24 }).map((pieces) => pieces.join(''))

/** The places of a record that may contain text. */
const FORMS: readonly ((one: string) => Json)[] = [
  (one) => ({ msg: one }),
  (one) => ({ msg: 'x', a: one, b: { c: [one] } }),
  (one) => ({ msg: 'x', [one]: 1 }),
  (one) => ({ msg: 'x', list: [one.slice(0, 8), one], o: { name: one.slice(0, 13), value: one } }),
  (one) => ({ msg: 'x', name: one.slice(0, 13), value: one }),
  (one) => ({ msg: 'x', err: { type: 'E', message: one, stack: `${one}\n    at f (a.js:1:2)` } }),
  (one) => ({ msg: 'x', a: JSON.stringify({ b: JSON.stringify([one]) }) }),
]

function redacted(one: string): string {
  return redactor.redactText(removeSecretsFromText(one, redactor.names))
}

/** The text as it is written in JSON. */
function escaped(one: string): string {
  return JSON.stringify(one).slice(1, -1)
}

test('redacts a text equally alone, within JSON, by the kernel and on the reference path', () => {
  let changed = 0
  let taken = 0
  const path = Kernel.create(options) as Kernel
  fc.assert(
    fc.property(text, fc.constantFrom(...FORMS), (one, form) => {
      const clean = redacted(one)
      if (redacted(clean) !== clean) expect(redacted(clean), 'once is enough').toBe(clean)
      if (redacted(escaped(one)) !== escaped(clean)) expect(redacted(escaped(one)), 'escaped').toBe(escaped(clean))
      if (clean !== one) {
        changed += 1
        const json = JSON.stringify({ msg: one })
        if (findNextSecret(json, 0, redactor.names) === Infinity && !redactor.mayMatch(json))
          expect.unreachable(`not found: ${json}`)
      }
      const line = `{"level":30,"time":1795219732486,${JSON.stringify(form(one)).slice(1)}`

      if (!path.map(path.lines.place(line), record)) return
      taken += 1
      expect(JSON.parse(record.json)).toEqual(JSON.parse(mapByParsing(line, options, RECEIVED_AT).json))
    }),
    { numRuns: RUNS, seed: 15 },
  )
  expect(changed).toBeGreaterThan(RUNS / 20)
  expect(taken).toBeGreaterThan(RUNS / 4)
})
