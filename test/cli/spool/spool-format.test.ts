/** `pino-ingest spool`: formatting of sizes and ages, selection by ID, and lines of dead letters. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { readLines, parseDeadLetter } from '../../../src/cli/spool/read-dead-letters.js'
import { findOutermost, select } from '../../../src/cli/spool/select-entries.js'
import { formatAge, formatColumns, formatSize } from '../../../src/cli/shared/terminal.js'
import { toDeadLetterLine } from '../../../src/spool/dead-letter-file.js'
import type { FoundInstance } from '../../../src/spool/inspect.js'

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1.0 KiB'],
  [4_509_696, '4.3 MiB'],
  [1_048_575, '1.0 MiB'],
  [3 * 2 ** 40, '3.0 TiB'],
  [2 ** 55, '32768.0 TiB'],
])('size %i', (bytes, text) => expect(formatSize(bytes)).toBe(text))

test.each([
  [-5, '0 s'],
  [999, '0 s'],
  [119_999, '119 s'],
  [120_000, '2 min'],
  [7_200_000, '2 h'],
  [3 * 3_600_000, '3 h'],
  [48 * 3_600_000, '2 d'],
])('age %i', (ms, text) => expect(formatAge(ms)).toBe(text))

test('pads columns to their width in a terminal', () => {
  const padded = ['a        bb', 'ccc      d   e', '注文     f', '결제 ✅  g', 'e\u0301🇩🇪👩‍🚀    h']
  expect(formatColumns(padded.map((line) => line.split(/ {2,}/)))).toEqual(padded)
})

function instance(name: string, path: string, claimedBy?: string): FoundInstance {
  return {
    name,
    path,
    destination: '375e2e155f06d98e',
    state: claimedBy === undefined ? 'killed' : 'claimed',
    isFree: true,
    pid: 1,
    leaseAgeMs: 0,
    claimedBy,
    segments: [],
    bytes: 0,
    isForeign: false,
  }
}

const outer = instance('mk2x0c1p-9f3a1c000000', '/r/d/mk2x0c1p-9f3a1c000000.live')
const inner = instance('mk2wzz81-77b0e2000000', '/r/d/mk2x0c1p-9f3a1c000000.live/mk2wzz81-77b0e2000000', outer.name)
const place = {
  root: '/r',
  destinations: [
    {
      name: '375e2e155f06d98e',
      path: '/r/d',
      instances: [outer, inner],
      deadLetters: [{ path: '/r/d/dead/a.ndjson', name: 'a.ndjson', bytes: 1, modifiedAtMs: 1 }],
    },
  ],
}

test('an ID is a name, a prefix, a destination, or dead', () => {
  expect(select(place, 'mk2x').instances).toEqual([outer, inner])
  expect(select(place, 'mk2x0c1p-9f3a1c000000.live').instances).toEqual([outer, inner])
  expect(select(place, 'mk2w')).toEqual({ instances: [inner], deadLetters: [] })
  expect(select(place, '375e')).toEqual(select(place, undefined))
  expect(select(place, 'dead')).toMatchObject({ instances: [], deadLetters: [{ destination: '375e2e155f06d98e' }] })
  expect(() => select(place, 'mk2')).toThrow('prefix of 2 names')
  for (const id of ['', 'x', '.live', '../../d']) expect(() => select(place, id)).toThrow(`${id} was not found in /r`)
  expect(findOutermost([outer, inner])).toEqual([outer])
  expect(findOutermost([inner])).toEqual([inner])
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
  '{"entry":{}}',
  '{"at":"x","entry":}',
  '{"at":"x","entry":[1]}',
  '{"at":"x","entry":"text"}',
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
