/** The buffer keeps the last lines of each scope, returns them once, and stays within its bounds. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ScopeKind } from '../../src/record/mapped-record.js'
import { BreadcrumbBuffer } from '../../src/breadcrumbs/breadcrumb-buffer.js'

const MIB = 1024 * 1024

function createBuffer(options: Partial<ConstructorParameters<typeof BreadcrumbBuffer>[0]> = {}): {
  buffer: BreadcrumbBuffer
  pass: (ms: number) => void
} {
  let now = 0
  const buffer = new BreadcrumbBuffer({ limit: 50, maxBytes: 8 * MIB, clock: { now: () => now }, ...options })
  return { buffer, pass: (ms) => void (now += ms) }
}

function take(buffer: BreadcrumbBuffer, kind: string, key: string): string[] {
  return buffer.take(kind, key).map(({ text }) => text)
}

function add(buffer: BreadcrumbBuffer, kind: ScopeKind, key: string, ...lines: string[]): void {
  addAll(buffer, kind, key, lines)
}

function addAll(buffer: BreadcrumbBuffer, kind: ScopeKind, key: string, lines: readonly string[]): void {
  const record = { scopeKind: kind, scopeId: key, isMappedByKernel: true, isFreeOfSecrets: true }
  buffer.open()
  const text = `${lines.join('\n')}\n`
  let start = 0
  for (const line of lines) {
    buffer.add(record, text, start, start + line.length)
    start += line.length + 1
  }
}

test('returns the last lines of a scope, oldest first, and only once', () => {
  const { buffer } = createBuffer({ limit: 3 })
  add(buffer, 'request', 'a', '1', '2', '3', '4', '5')
  add(buffer, 'request', 'b', 'x')
  expect(take(buffer, 'request', 'a')).toEqual(['3', '4', '5'])
  expect(take(buffer, 'request', 'a')).toEqual([])
  add(buffer, 'request', 'a', '6')
  expect(take(buffer, 'request', 'a')).toEqual(['6'])
  expect(take(buffer, 'request', 'b')).toEqual(['x'])
})

test('the same id as a request, session and trace id names three scopes', () => {
  const { buffer } = createBuffer()
  for (const kind of ['trace', 'request', 'session', 'process'] as const) add(buffer, kind, '1', kind)
  expect(take(buffer, 'session', '1')).toEqual(['session'])
  expect(take(buffer, 'trace', '1')).toEqual(['trace'])
  expect(take(buffer, 'process', '1')).toEqual(['process'])
})

test('removes the longest idle scope when there are too many', () => {
  const { buffer } = createBuffer({ maxScopes: 3 })
  for (const key of ['a', 'b', 'c']) add(buffer, 'request', key, key)
  add(buffer, 'request', 'a', 'again')
  add(buffer, 'request', 'd', 'd')
  expect(buffer.scopes).toBe(3)
  expect(take(buffer, 'request', 'b')).toEqual([])
  expect(take(buffer, 'request', 'a')).toEqual(['a', 'again'])
})

test('removes a scope after 5 minutes without a line', () => {
  const { buffer, pass } = createBuffer()
  add(buffer, 'request', 'a', 'a')
  pass(200_000)
  add(buffer, 'request', 'b', 'b')
  pass(100_000)
  buffer.open()
  expect(buffer.scopes).toBe(2)
  pass(1)
  buffer.open()
  expect(buffer.scopes).toBe(1)
  expect(take(buffer, 'request', 'a')).toEqual([])
  expect(take(buffer, 'request', 'b')).toEqual(['b'])
})

test('stays within the memory bound by removing the oldest lines', () => {
  const maxBytes = MIB
  const { buffer } = createBuffer({ maxBytes })
  add(buffer, 'request', 'old', 'the first line')
  let most = 0
  for (let chunk = 0; chunk < 1_000; chunk += 1) {
    if (chunk === 990) add(buffer, 'request', 'young', 'a late line')
    add(buffer, 'process', '', ...Array.from({ length: 100 }, (_, line) => `${chunk} ${line} ${'.'.repeat(500)}`))
    most = Math.max(most, buffer.bytes)
  }
  expect(most).toBeLessThanOrEqual(maxBytes + 60_000) // plus the current chunk and the index
  expect(most).toBeGreaterThan(maxBytes / 2)
  expect(take(buffer, 'request', 'old')).toEqual([])
  expect(take(buffer, 'request', 'young')).toEqual(['a late line'])
  expect(take(buffer, 'process', '').map((line) => line.slice(0, 6))).toEqual(
    Array.from({ length: 50 }, (_, n) => `999 ${n + 50}`),
  )
})

test('keeps the newest lines when the index is full', () => {
  const { buffer } = createBuffer({ maxBytes: 64 * MIB, limit: 1_000 })
  for (let chunk = 0; chunk < 4; chunk += 1)
    addAll(
      buffer,
      'process',
      '',
      Array.from({ length: 100_000 }, (_, n) => String(chunk * 100_000 + n)),
    )
  expect(take(buffer, 'process', '')).toEqual(Array.from({ length: 1_000 }, (_, n) => String(399_000 + n)))
  addAll(
    buffer,
    'process',
    '',
    Array.from({ length: 300_000 }, (_, n) => String(n)),
  )
  expect(take(buffer, 'process', '').at(-1)).toBe('299999')
})

test('counts two-byte characters as two bytes', () => {
  const { buffer } = createBuffer({ maxBytes: MIB })
  for (let chunk = 0; chunk < 100; chunk += 1) add(buffer, 'process', '', `${chunk} ${'ж'.repeat(50_000)}`)
  expect(buffer.bytes).toBeLessThanOrEqual(MIB + 101_000)
  // Ten in the megabyte, and the chunk being read.
  expect(take(buffer, 'process', '').length).toBeLessThanOrEqual(11)
})

test('restores the lines taken last', () => {
  const { buffer } = createBuffer()
  add(buffer, 'request', 'a', '1', '2')
  take(buffer, 'request', 'a')
  add(buffer, 'request', 'a', '3')
  buffer.restore('request', 'a')
  expect(take(buffer, 'request', 'a')).toEqual(['1', '2', '3'])
})

test('a very long id works like any other, and is not retained', () => {
  const { buffer } = createBuffer({ maxBytes: MIB })
  const ids = Array.from({ length: 300 }, (_, n) => `${n} ${'x'.repeat(100_000)}`)
  for (const id of ids) add(buffer, 'request', id, id.slice(0, 3))
  expect(take(buffer, 'request', ids[7] as string)).toEqual(['7 x'])
  expect(take(buffer, 'request', ids[299] as string)).toEqual(['299'])
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
      const { buffer, pass } = createBuffer({ limit, maxScopes: 4 })
      let now = 0
      let number = 0
      const plain = new Map<string, { lines: string[]; usedAt: number }>()
      for (const one of steps) {
        if (one.do === 'pass') {
          pass(one.ms)
          now += one.ms
          continue
        }
        const key = String(one.scope)
        if (one.do === 'take') {
          expect(take(buffer, 'request', key)).toEqual(plain.get(key)?.lines ?? [])
          const scope = plain.get(key)
          if (scope !== undefined) scope.lines = []
          continue
        }
        for (const [other, { usedAt }] of plain) if (now - usedAt > 300_000) plain.delete(other)
        const lines = Array.from({ length: one.lines }, () => `line ${number++}`)
        add(buffer, 'request', key, ...lines)
        const scope = plain.get(key) ?? { lines: [], usedAt: now }
        plain.delete(key)
        if (plain.size === 4) plain.delete(plain.keys().next().value as string)
        plain.set(key, { lines: [...scope.lines, ...lines].slice(-limit), usedAt: now })
      }
    }),
    { numRuns: 500 },
  )
})
