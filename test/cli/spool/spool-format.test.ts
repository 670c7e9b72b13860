/** `pino-ingest spool`: columns, and lines of dead letters. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { readLines, parseDeadLetter } from '../../../src/cli/spool/read-dead-letters.js'
import { formatColumns } from '../../../src/cli/shared/terminal.js'
import { toDeadLetterLine } from '../../../src/spool/dead-letter-file.js'

test('pads columns to their width in a terminal', () => {
  const padded = ['a        bb', 'ccc      d   e', '注文     f', '결제 ✅  g', 'e\u0301🇩🇪👩‍🚀    h']
  expect(formatColumns(padded.map((line) => line.split(/ {2,}/)))).toEqual(padded)
})

test('a dead letter with any content survives a round trip', () => {
  const letter = fc.record({
    at: fc.string(),
    batchId: fc.string(),
    index: fc.nat(),
    status: fc.nat(),
    code: fc.string(),
    field: fc.string(),
    reason: fc.oneof(fc.string({ unit: 'binary' }), fc.constant(',"entry":{"a":1}}')),
    entry: fc.oneof(
      fc.dictionary(fc.string(), fc.jsonValue()).map((value) => JSON.stringify(value)),
      fc.constant('{"n":12345678901234567890}'),
    ),
  })
  fc.assert(
    fc.property(letter, (one) => {
      const line = toDeadLetterLine(one, one.at)
      expect(line.indexOf('\n')).toBe(line.length - 1)
      expect(parseDeadLetter(Buffer.from(line.slice(0, -1)))).toEqual({ ...one, reason: one.reason.toWellFormed() })
    }),
  )
})

test.each([
  '',
  '{}',
  '{"at":"x","entry":}',
  '{"at":"x","entry":[1]}',
  '{"at":"x","entry":null}',
  '{"at":"x","entry":{"a":1',
  'null',
  '{"at":"x","entry":{}} ',
])('%s is not a dead letter', (line) => expect(parseDeadLetter(Buffer.from(line))).toBeUndefined())

test('reads lines of any length and an incomplete last line', () => {
  const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-lines-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const lines = ['', 'a', 'b'.repeat(256 * 1024), '', 'é', 'end']
  const path = join(folder, 'lines')
  writeFileSync(path, lines.join('\n'))
  expect(readLines(path).map(String)).toEqual(lines)
})
