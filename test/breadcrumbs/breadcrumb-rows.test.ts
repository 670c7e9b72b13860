/** Rows keep the last lines of each scope, return them once, and stay within their bounds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BreadcrumbRows } from '../../src/breadcrumbs/breadcrumb-rows.js'
import { RowFlag } from '../../src/record/memory.js'
import { LEAST_RING_BYTES } from '../../src/record/line-ring.js'
import type { LineRing } from '../../src/record/line-ring.js'
import { hashScope } from '../../src/record/scope.js'
import type { ScopeHash } from '../../src/record/scope.js'

import { createRing } from '../record/create-ring.js'

const MIB = 1024 * 1024
const INFO = 1

interface Subject {
  readonly rows: BreadcrumbRows
  readonly ring: LineRing
  readonly pass: (ms: number) => void
}

type IdName = 'traceId' | 'requestId' | 'sessionId'

function createSubject({ ringBytes = 8 * MIB, limit = 50 } = {}): Subject {
  let now = 0
  const ring = createRing(Math.max(ringBytes, LEAST_RING_BYTES))
  const rows = new BreadcrumbRows({ ring, threshold: 0, limit, maxBytes: ringBytes })
  return { rows, ring, pass: (ms) => rows.setTime((now += ms)) }
}

/** @param id '' for the process */
function scopeOf(ring: LineRing, id: string, name: IdName = 'requestId'): ScopeHash {
  const scope = { one: 0, other: 0 }
  hashScope({ traceId: '', isCallersTrace: false, requestId: '', sessionId: '', [name]: id }, ring, scope)
  return scope
}

function add({ rows, ring }: Subject, scope: ScopeHash, text: string, flags = 0): void {
  const { position, start, end } = ring.place(text)
  rows.add(scope, INFO, { position, bytes: end - start, flags }, start)
}

function addAll(subject: Subject, id: string, ...lines: readonly string[]): void {
  for (const line of lines) add(subject, scopeOf(subject.ring, id), line)
}

/** As an error that is no breadcrumb itself. */
function take({ rows, ring }: Subject, id: string, name?: IdName): string[] {
  const scope = scopeOf(ring, id, name)
  const lines = rows.find(scope, ring.end)
  rows.add(scope, -1, { position: ring.end, bytes: 0, flags: RowFlag.TOOK }, 0)
  return lines.map(({ position, bytes }) => {
    const start = ring.offsetOf(position)
    return ring.memory.toString('utf8', start, start + bytes)
  })
}

test('returns the last lines of a scope, oldest first, and only once', () => {
  const subject = createSubject({ limit: 3 })
  addAll(subject, 'a', '1', '2', '3', '4', '5')
  addAll(subject, 'b', 'x')
  expect(take(subject, 'a')).toEqual(['3', '4', '5'])
  expect(take(subject, 'a')).toEqual([])
  addAll(subject, 'a', '6')
  expect(take(subject, 'a')).toEqual(['6'])
  expect(take(subject, 'b')).toEqual(['x'])
})

test('the same id as a request, session and trace id names three scopes', () => {
  const subject = createSubject()
  const names = ['traceId', 'requestId', 'sessionId'] as const
  for (const name of names) add(subject, scopeOf(subject.ring, '1', name), name)
  addAll(subject, '', 'process')
  for (const name of names) expect(take(subject, '1', name)).toEqual([name])
  expect(take(subject, '')).toEqual(['process'])
})

test('short ids of any kind have different hashes', () => {
  const ring = createRing()
  const letters = Array.from({ length: 94 }, (_, n) => String.fromCharCode(33 + n))
  const ids = letters.flatMap((first) => ['', ...letters].map((second) => first + second))
  const names = ['traceId', 'requestId', 'sessionId'] as const
  const hashes = ids.flatMap((id) => names.map((name) => JSON.stringify(scopeOf(ring, id, name))))
  expect(new Set(hashes).size).toBe(hashes.length)
})

test.each([MIB, 8 * MIB])('of lines within %i bytes, the oldest are removed first', (maxBytes) => {
  const subject = createSubject({ ringBytes: maxBytes, limit: 1_000 })
  addAll(subject, 'old', 'the first line')
  for (let line = 0; line < 5_000; line += 1) {
    if (line === 4_900) addAll(subject, 'young', 'a late line')
    addAll(subject, '', `${line} ${'.'.repeat(10_000)}`)
  }
  expect(take(subject, 'old')).toEqual([])
  expect(take(subject, 'young')).toEqual(['a late line'])
  const lines = take(subject, '')
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0)
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  expect(bytes).toBeGreaterThan(maxBytes * 0.98)
  expect(lines.at(-1)?.slice(0, 6)).toBe('4999 .')
})

test('keeps the newest lines when all rows are used', () => {
  const subject = createSubject({ ringBytes: 64 * MIB, limit: 1_000 })
  addAll(subject, 'old', 'the first line')
  for (let line = 0; line < 100_000; line += 1) addAll(subject, '', String(line))
  expect(take(subject, 'old')).toEqual([])
  expect(take(subject, '')).toEqual(Array.from({ length: 1_000 }, (_, n) => String(99_000 + n)))
})

test('counts bytes, not characters', () => {
  const subject = createSubject({ ringBytes: MIB })
  for (let line = 0; line < 100; line += 1) addAll(subject, '', `${line} ${'ж'.repeat(50_000)}`)
  expect(take(subject, '')).toHaveLength(10)
})

test('restores the lines taken last', () => {
  const subject = createSubject()
  addAll(subject, 'a', '1', '2')
  take(subject, 'a')
  subject.rows.restore()
  addAll(subject, 'a', '3')
  expect(take(subject, 'a')).toEqual(['1', '2', '3'])
})

test('forgets the lines of a scope after 5 minutes without one', () => {
  const subject = createSubject()
  addAll(subject, 'a', 'a')
  addAll(subject, 'b', 'b')
  subject.pass(299_000)
  addAll(subject, 'b', 'later')
  subject.pass(2_000)
  expect([take(subject, 'a'), take(subject, 'b')]).toEqual([[], ['b', 'later']])
})

test('a very long id works like any other', () => {
  const subject = createSubject({ ringBytes: MIB })
  const ids = Array.from({ length: 100 }, (_, n) => `${n} ${'x'.repeat(50_000)}`)
  for (const id of ids) addAll(subject, id, id.slice(0, 3))
  expect(take(subject, ids[7] as string)).toEqual(['7 x'])
  expect(take(subject, ids[99] as string)).toEqual(['99 '])
})

type Step =
  | { readonly do: 'add'; readonly scope: number; readonly lines: number }
  | { readonly do: 'take'; readonly scope: number }
  | { readonly do: 'pass'; readonly ms: number }

test('behave like a plain list of lists, for any order of operations', () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant('add' as const), scope: fc.nat(6), lines: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ do: fc.constant('take' as const), scope: fc.nat(6) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1_000, 100_000, 301_000) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, limit) => {
      const subject = createSubject({ ringBytes: LEAST_RING_BYTES, limit })
      let now = 0
      let number = 0
      const plain = new Map<string, { lines: string[]; usedAt: number }>()
      for (const one of steps) {
        if (one.do === 'pass') {
          subject.pass(one.ms)
          now += one.ms
          continue
        }
        const key = String(one.scope)
        const scope = plain.get(key)
        const kept = scope === undefined || now - scope.usedAt > 300_000 ? [] : scope.lines
        if (one.do === 'take') {
          expect(take(subject, key)).toEqual(kept.slice(-limit))
          plain.set(key, { lines: [], usedAt: now })
          continue
        }
        const lines = Array.from({ length: one.lines }, () => `line ${number++}`)
        addAll(subject, key, ...lines)
        plain.set(key, { lines: [...kept, ...lines], usedAt: now })
      }
    }),
    { numRuns: 50 },
  )
})
