/**
 * Entries are equal by their own fingerprint, or by that of their own error. Errors elsewhere in the entry do not
 * count.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findFingerprint } from '../../src/filter/entry-fingerprint.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { computeErrorFingerprint } from '../../src/record/reference/error-fingerprint.js'
import { RECEIVED_AT, corpus, anyLine } from '../record/record-lines.js'
import { modelRuns } from '../model-runs.js'
import { jsonWith } from '../record/map-line.js'

const STACK = 'TypeError: no user 7\n    at f (/app/src/a.js:1:2)'

function entry(fields: Partial<LogEntry>): string {
  return JSON.stringify({ level: 'error', message: 'm', timestamp: RECEIVED_AT, ...fields })
}

/** Uses a JSON parser, which cannot mistake one `error` for another. */
function expected(json: string): string {
  const { error } = JSON.parse(json) as LogEntry
  return error === undefined ? '' : computeErrorFingerprint(error)
}

describe('the fingerprint of an entry', () => {
  test('is the one of its record', () => {
    expect(findFingerprint(entry({ error: { type: 'E' } }), 'mine')).toBe('mine')
    expect(findFingerprint(entry({}), 'mine')).toBe('mine')
  })

  test('is empty without an error and a fingerprint', () => {
    expect(findFingerprint(entry({}), '')).toBe('')
    expect(findFingerprint(entry({ message: '"error":{"type":"E"}' }), '')).toBe('')
    expect(findFingerprint(entry({ metadata: { error: { type: 'E', stack: STACK } } }), '')).toBe('')
  })

  test('is that of its own error, not of one in its metadata or in a breadcrumb', () => {
    const error = { type: 'TypeError', message: 'no user 7', stack: STACK }
    const json = JSON.stringify({
      level: 'error',
      message: 'm',
      timestamp: RECEIVED_AT,
      breadcrumbs: [{ data: { error: { type: 'Crumb' } } }],
      metadata: { error: { type: 'Meta' } },
      error,
    })
    expect(findFingerprint(json, '')).toBe(computeErrorFingerprint(error))
  })

  test('is the same if the errors differ only in numbers, ids and lines', () => {
    const a = entry({ message: 'a', error: { type: 'TypeError', message: 'no user 7', stack: STACK } })
    const b = entry({
      message: 'b',
      error: { type: 'TypeError', message: 'no user 81', stack: STACK.replace('1:2', '3:4') },
    })
    const c = entry({ error: { type: 'RangeError', message: 'no user 7', stack: STACK } })
    expect(findFingerprint(a, '')).toBe(findFingerprint(b, ''))
    expect(findFingerprint(a, '')).not.toBe(findFingerprint(c, ''))
  })

  test('is found if the cursor rejects the entry', () => {
    for (const fields of [
      { request: { duration_ms: 1e300 }, error: { type: 'E' } },
      { request: { duration_ms: 1e300 }, metadata: { error: { type: 'E' } } },
    ]) {
      expect(findFingerprint(entry(fields), '')).toBe(expected(entry(fields)))
    }
    let deep: LogEntry['metadata'] = { error: { type: 'Deep' } }
    for (let depth = 0; depth < 31; depth += 1) deep = { deep }
    expect(findFingerprint(entry({ metadata: deep }), '')).toBe('')
  })
})

test('computes evicted fingerprints again', () => {
  const jsons = Array.from({ length: 600 }, (_, n) => entry({ error: { type: `E${n}`, message: 'x'.repeat(n * 40) } }))
  for (let round = 0; round < 2; round += 1)
    for (const json of jsons) expect(findFingerprint(json, '')).toBe(expected(json))
})

test('finds the same fingerprint as a parser for every entry of the mapper', () => {
  const same = (line: string): void => {
    for (const fingerprint of [true, false]) {
      const json = jsonWith(line, { fingerprint })
      expect(findFingerprint(json, '')).toBe(expected(json))
    }
  }
  for (const { raw } of corpus) same(raw)
  fc.assert(fc.property(anyLine, same), { numRuns: modelRuns(100, 2_000) })
})
