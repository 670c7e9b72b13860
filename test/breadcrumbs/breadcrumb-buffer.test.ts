/** The buffer keeps the last lines of each scope, returns them once, and stays within its bounds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ScopeKind } from '../../src/record/mapped-record.js'
import { LEAST_RING_BYTES } from '../../src/record/line-ring.js'
import type { LineRing } from '../../src/record/line-ring.js'
import { BreadcrumbBuffer } from '../../src/breadcrumbs/breadcrumb-buffer.js'

import { createRing } from '../record/create-ring.js'

const MIB = 1024 * 1024

interface Subject {
  readonly buffer: BreadcrumbBuffer
  readonly ring: LineRing
  readonly pass: (ms: number) => void
}

function createSubject({
  ringBytes = 8 * MIB,
  ...options
}: Partial<ConstructorParameters<typeof BreadcrumbBuffer>[0]> & { readonly ringBytes?: number } = {}): Subject {
  let now = 0
  const ring = createRing(Math.max(ringBytes, LEAST_RING_BYTES))
  const clock = { now: () => now }
  const buffer = new BreadcrumbBuffer({ ring, limit: 50, maxBytes: ringBytes, clock, ...options })
  return { buffer, ring, pass: (ms) => void (now += ms) }
}

function take({ buffer, ring }: Subject, kind: string, key: string): string[] {
  return buffer.take(kind, key).map(({ position, bytes }) => {
    const start = ring.offsetOf(position)
    return ring.memory.toString('utf8', start, start + bytes)
  })
}

function add(subject: Subject, kind: ScopeKind, key: string, ...lines: string[]): void {
  addAll(subject, kind, key, lines)
}

function addAll({ buffer, ring }: Subject, kind: ScopeKind, key: string, lines: readonly string[]): void {
  buffer.open()
  for (const line of lines) {
    const { position, start, end } = ring.place(line)
    const place = { position, bytes: end - start, isMappedByKernel: true, isFreeOfSecrets: true, isBreadcrumb: false }
    buffer.add({ scopeKind: kind, scopeId: key }, place)
  }
}

test('returns the last lines of a scope, oldest first, and only once', () => {
  const subject = createSubject({ limit: 3 })
  add(subject, 'request', 'a', '1', '2', '3', '4', '5')
  add(subject, 'request', 'b', 'x')
  expect(take(subject, 'request', 'a')).toEqual(['3', '4', '5'])
  expect(take(subject, 'request', 'a')).toEqual([])
  add(subject, 'request', 'a', '6')
  expect(take(subject, 'request', 'a')).toEqual(['6'])
  expect(take(subject, 'request', 'b')).toEqual(['x'])
})

test('the same id as a request, session and trace id names three scopes', () => {
  const subject = createSubject()
  for (const kind of ['trace', 'request', 'session', 'process'] as const) add(subject, kind, '1', kind)
  expect(take(subject, 'session', '1')).toEqual(['session'])
  expect(take(subject, 'trace', '1')).toEqual(['trace'])
  expect(take(subject, 'process', '1')).toEqual(['process'])
})

test('removes the longest idle scope when there are too many', () => {
  const subject = createSubject({ maxScopes: 3 })
  for (const key of ['a', 'b', 'c']) add(subject, 'request', key, key)
  add(subject, 'request', 'a', 'again')
  add(subject, 'request', 'd', 'd')
  expect(subject.buffer.scopes).toBe(3)
  expect(take(subject, 'request', 'b')).toEqual([])
  expect(take(subject, 'request', 'a')).toEqual(['a', 'again'])
})

test('removes a scope after 5 minutes without a line', () => {
  const subject = createSubject()
  add(subject, 'request', 'a', 'a')
  subject.pass(200_000)
  add(subject, 'request', 'b', 'b')
  subject.pass(100_000)
  subject.buffer.open()
  expect(subject.buffer.scopes).toBe(2)
  subject.pass(1)
  subject.buffer.open()
  expect(subject.buffer.scopes).toBe(1)
  expect(take(subject, 'request', 'a')).toEqual([])
  expect(take(subject, 'request', 'b')).toEqual(['b'])
})

test.each([MIB, 8 * MIB])('of lines within %i bytes, the oldest are removed first', (maxBytes) => {
  const subject = createSubject({ ringBytes: maxBytes, limit: 1_000_000 })
  add(subject, 'request', 'old', 'the first line')
  for (let chunk = 0; chunk < 1_000; chunk += 1) {
    if (chunk === 990) add(subject, 'request', 'young', 'a late line')
    add(subject, 'process', '', ...Array.from({ length: 100 }, (_, line) => `${chunk} ${line} ${'.'.repeat(500)}`))
  }
  expect(take(subject, 'request', 'old')).toEqual([])
  expect(take(subject, 'request', 'young')).toEqual(['a late line'])
  const lines = take(subject, 'process', '')
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0)
  expect(bytes).toBeLessThanOrEqual(maxBytes)
  expect(bytes).toBeGreaterThan(maxBytes * 0.99)
  expect(lines.slice(-50).map((line) => line.slice(0, 6))).toEqual(
    Array.from({ length: 50 }, (_, n) => `999 ${n + 50}`),
  )
})

test('keeps the newest lines when the index is full', () => {
  const subject = createSubject({ ringBytes: 64 * MIB, limit: 1_000 })
  for (let chunk = 0; chunk < 4; chunk += 1)
    addAll(
      subject,
      'process',
      '',
      Array.from({ length: 100_000 }, (_, n) => String(chunk * 100_000 + n)),
    )
  expect(take(subject, 'process', '')).toEqual(Array.from({ length: 1_000 }, (_, n) => String(399_000 + n)))
  addAll(
    subject,
    'process',
    '',
    Array.from({ length: 300_000 }, (_, n) => String(n)),
  )
  expect(take(subject, 'process', '').at(-1)).toBe('299999')
})

test('text that is not yet read does not count', () => {
  const subject = createSubject({ ringBytes: 65_536 })
  add(subject, 'request', 'a', 'the line before')
  subject.ring.append('text\n'.repeat(100_000))
  expect(take(subject, 'request', 'a')).toEqual(['the line before'])
})

test('counts bytes, not characters', () => {
  const subject = createSubject({ ringBytes: MIB })
  for (let chunk = 0; chunk < 100; chunk += 1) add(subject, 'process', '', `${chunk} ${'ж'.repeat(50_000)}`)
  expect(take(subject, 'process', '')).toHaveLength(10)
})

test('restores the lines taken last', () => {
  const subject = createSubject()
  add(subject, 'request', 'a', '1', '2')
  take(subject, 'request', 'a')
  add(subject, 'request', 'a', '3')
  subject.buffer.restore('request', 'a')
  expect(take(subject, 'request', 'a')).toEqual(['1', '2', '3'])
})

test('a very long id works like any other, and is not retained', () => {
  const subject = createSubject({ ringBytes: MIB })
  const ids = Array.from({ length: 300 }, (_, n) => `${n} ${'x'.repeat(100_000)}`)
  for (const id of ids) add(subject, 'request', id, id.slice(0, 3))
  expect(take(subject, 'request', ids[7] as string)).toEqual(['7 x'])
  expect(take(subject, 'request', ids[299] as string)).toEqual(['299'])
})

type Step =
  | { readonly do: 'add'; readonly scope: number; readonly lines: number }
  | { readonly do: 'take'; readonly scope: number }
  | { readonly do: 'pass'; readonly ms: number }

test('behaves like a plain list of lists, for any order of operations', () => {
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ do: fc.constant('add' as const), scope: fc.nat(6), lines: fc.integer({ min: 1, max: 5 }) }),
    fc.record({ do: fc.constant('take' as const), scope: fc.nat(6) }),
    fc.record({ do: fc.constant('pass' as const), ms: fc.constantFrom(1, 100_000, 300_001) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, limit) => {
      const subject = createSubject({ limit, maxScopes: 4 })
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
        if (one.do === 'take') {
          expect(take(subject, 'request', key)).toEqual(plain.get(key)?.lines ?? [])
          const scope = plain.get(key)
          if (scope !== undefined) scope.lines = []
          continue
        }
        for (const [other, { usedAt }] of plain) if (now - usedAt > 300_000) plain.delete(other)
        const lines = Array.from({ length: one.lines }, () => `line ${number++}`)
        add(subject, 'request', key, ...lines)
        const scope = plain.get(key) ?? { lines: [], usedAt: now }
        plain.delete(key)
        if (plain.size === 4) plain.delete(plain.keys().next().value as string)
        plain.set(key, { lines: [...scope.lines, ...lines].slice(-limit), usedAt: now })
      }
    }),
    { numRuns: 500 },
  )
})
