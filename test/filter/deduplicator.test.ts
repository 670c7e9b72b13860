/** Deduplication sends the first entry immediately and the repeats as one summary with a count, within limits. */
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Deduplicator } from '../../src/filter/deduplicator.js'
import type { DeduplicatorOptions, RepeatSummary } from '../../src/filter/deduplicator.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { validateEntry } from '../../src/service/index.js'
import { FakeClock } from '../fake-clock.js'
import { faults } from '../record/valid-entry.js'

const ERROR = 3
const FATAL = 4
const WINDOW_MS = 60_000
const KIB = 1024

function build(options: Partial<DeduplicatorOptions> = {}): {
  clock: FakeClock
  dedupe: Deduplicator
  summaries: RepeatSummary[]
  entries: () => LogEntry[]
} {
  const clock = new FakeClock()
  const summaries: RepeatSummary[] = []
  const dedupe = new Deduplicator({
    windowMs: WINDOW_MS,
    clock,
    onSummary: (summary) => summaries.push(summary),
    ...options,
  })
  return { clock, dedupe, summaries, entries: () => summaries.map(({ json }) => JSON.parse(json) as LogEntry) }
}

function entry(n: number, more: Partial<LogEntry> = {}): string {
  return JSON.stringify({
    level: 'error',
    message: 'payment failed',
    timestamp: new Date(Date.UTC(2025, 0, 1) + n).toISOString(),
    service: 'checkout',
    environment: 'production',
    version: '1.2.3',
    request_id: `r-${n}`,
    release_id: 'rel-1',
    source: '/app/pay.js:1:2',
    error: { type: 'PayError', message: 'declined', stack: 'PayError: declined\n    at pay (/app/pay.js:1:2)' },
    user: { id: 'u' },
    user_id: 'u',
    trace: { trace_id: 't' },
    notify: true,
    deploy: { commit: 'abc' },
    tags: ['eu'],
    breadcrumbs: [{ message: 'before' }],
    fingerprint: 'fp',
    metadata: { pid: 1, order: n },
    ...more,
  })
}

function expectValid({ json }: RepeatSummary, maxEntryBytes = 64 * KIB): void {
  expect(faults(json, maxEntryBytes)).toEqual([])
  expect(validateEntry(JSON.parse(json))).toEqual([])
}

test('a storm of 50,000 equal errors becomes two entries, the second with the count 49,999', async () => {
  const { clock, dedupe, summaries, entries } = build()
  let sent = 0
  for (let n = 0; n < 50_000; n += 1) if (!dedupe.isRepeat('fp', ERROR, entry(n))) sent += 1
  expect([sent, summaries.length]).toEqual([1, 0])
  await clock.advance(WINDOW_MS)
  expect(summaries).toMatchObject([{ severity: ERROR, count: 49_999 }])
  expect(entries()).toEqual([
    {
      level: 'error',
      message: 'payment failed (repeated 49999 times in 60 s)',
      timestamp: '2025-01-01T00:00:49.999Z',
      service: 'checkout',
      environment: 'production',
      version: '1.2.3',
      tags: ['eu'],
      error: { type: 'PayError', message: 'declined', stack: 'PayError: declined\n    at pay (/app/pay.js:1:2)' },
      deploy: { commit: 'abc' },
      fingerprint: 'fp',
      release_id: 'rel-1',
      source: '/app/pay.js:1:2',
      metadata: {
        pino_ingest: {
          repeated: { count: 49_999, first: '2025-01-01T00:00:00.001Z', last: '2025-01-01T00:00:49.999Z' },
        },
      },
    },
  ])
  expectValid(summaries[0] as RepeatSummary)
})

describe('a window', () => {
  test('is followed by a new one, whose first entry is sent immediately', async () => {
    const { clock, dedupe, summaries } = build()
    const answers: boolean[] = []
    for (let n = 0; n < 6; n += 1) {
      answers.push(dedupe.isRepeat('fp', ERROR, entry(n)))
      await clock.advance(WINDOW_MS / 2)
    }
    expect(answers).toEqual([false, true, false, true, false, true])
    expect(summaries.map(({ count }) => count)).toEqual([1, 1, 1])
    expect((JSON.parse(summaries[0]?.json ?? '') as LogEntry).message).toBe('payment failed (repeated once in 60 s)')
  })

  test('ends on time if its timer is late', () => {
    let now = 0
    const summaries: RepeatSummary[] = []
    const clock = { now: () => now, wallNow: () => now, timer: () => () => {} }
    const dedupe = new Deduplicator({ windowMs: WINDOW_MS, clock, onSummary: (summary) => summaries.push(summary) })
    expect([dedupe.isRepeat('fp', ERROR, entry(0)), dedupe.isRepeat('fp', ERROR, entry(1))]).toEqual([false, true])
    now = WINDOW_MS
    expect(dedupe.isRepeat('fp', ERROR, entry(2))).toBe(false)
    expect(summaries.map(({ count }) => count)).toEqual([1])
  })

  test('does not end early if its timer fires early', () => {
    let now = 0
    const timers: { delayMs: number; fire: () => void }[] = []
    const summaries: RepeatSummary[] = []
    const clock = {
      now: () => now,
      wallNow: () => now,
      timer: (delayMs: number, fire: () => void) => (timers.push({ delayMs, fire }), () => {}),
    }
    const dedupe = new Deduplicator({ windowMs: WINDOW_MS, clock, onSummary: (summary) => summaries.push(summary) })
    dedupe.isRepeat('fp', ERROR, entry(0))
    dedupe.isRepeat('fp', ERROR, entry(1))
    now = WINDOW_MS - 0.5
    timers[0]?.fire()
    expect([summaries.length, timers[1]?.delayMs]).toEqual([0, 0.5])
    now = WINDOW_MS
    timers[1]?.fire()
    expect([summaries.length, timers.length]).toEqual([1, 2])
  })

  test('shares one timer with all others', async () => {
    const { clock, dedupe, summaries } = build()
    for (const key of ['a', 'b', 'c']) {
      dedupe.isRepeat(key, ERROR, entry(0, { message: key }))
      dedupe.isRepeat(key, ERROR, entry(1, { message: key }))
      expect(clock.timers).toBe(1)
      await clock.advance(1_000)
    }
    await clock.advance(WINDOW_MS - 3_000)
    expect(summaries).toHaveLength(1)
    await clock.advance(1_000)
    expect(summaries).toHaveLength(2)
    await clock.advance(1_000)
    expect([summaries.length, dedupe.keys, dedupe.bytes, clock.timers]).toEqual([3, 0, 0, 0])
  })

  test('has one level: an error does not hide a fatal entry', () => {
    const { dedupe, summaries } = build()
    const answers = [ERROR, FATAL, ERROR, FATAL].map((severity, n) =>
      dedupe.isRepeat('fp', severity, entry(n, { level: severity === FATAL ? 'fatal' : 'error' })),
    )
    expect(answers).toEqual([false, false, true, true])
    dedupe.flushNow()
    expect(summaries.map(({ severity, json }) => [severity, (JSON.parse(json) as LogEntry).level])).toEqual([
      [ERROR, 'error'],
      [FATAL, 'fatal'],
    ])
  })

  test('ignores entries without a fingerprint', () => {
    const { clock, dedupe } = build()
    expect([dedupe.isRepeat('', ERROR, entry(0)), dedupe.isRepeat('', ERROR, entry(0)), clock.timers]).toEqual([
      false,
      false,
      0,
    ])
  })

  test.each([
    [850, '850 ms'],
    [1_500, '1.5 s'],
    [60_004, '60 s'],
    [300_000, '5 min'],
    [86_400_000, '24 h'],
  ])('of %d ms is written as %s', async (ms, words) => {
    const { clock, dedupe, entries } = build({ windowMs: 2 * 86_400_000 })
    dedupe.isRepeat('fp', ERROR, entry(0))
    dedupe.isRepeat('fp', ERROR, entry(1))
    dedupe.isRepeat('fp', ERROR, entry(2))
    await clock.advance(ms)
    dedupe.flushNow()
    expect(entries()[0]?.message).toBe(`payment failed (repeated 2 times in ${words})`)
  })
})

test('at the end, flushNow sends pending summaries, and leaves no timer', () => {
  const { clock, dedupe, summaries } = build()
  for (let n = 0; n < 3; n += 1) for (const key of ['a', 'b']) dedupe.isRepeat(key, ERROR, entry(n))
  dedupe.isRepeat('alone', ERROR, entry(9))
  dedupe.flushNow()
  expect(summaries.map(({ count }) => count)).toEqual([2, 2])
  expect([dedupe.keys, dedupe.bytes, clock.timers]).toEqual([0, 0, 0])
  expect(dedupe.isRepeat('a', ERROR, entry(10))).toBe(false)
})

test('cancel discards pending summaries', async () => {
  const { clock, dedupe, summaries } = build()
  dedupe.isRepeat('a', ERROR, entry(0))
  dedupe.isRepeat('a', ERROR, entry(1))
  dedupe.cancel()
  expect([dedupe.keys, dedupe.bytes, clock.timers]).toEqual([0, 0, 0])
  await clock.advance(WINDOW_MS)
  expect(summaries).toEqual([])
})

describe('bounds', () => {
  test('closes the oldest window early, with its summary, above maxKeys', () => {
    const { dedupe, summaries } = build({ maxKeys: 3 })
    for (const key of ['a', 'a', 'b', 'b', 'b', 'c', 'd']) dedupe.isRepeat(key, ERROR, entry(0))
    expect([dedupe.keys, summaries.map(({ count }) => count)]).toEqual([3, [1]])
    dedupe.isRepeat('e', ERROR, entry(0))
    expect(summaries.map(({ count }) => count)).toEqual([1, 2])
    expect(dedupe.isRepeat('a', ERROR, entry(0))).toBe(false)
  })

  test('closes the oldest window above the byte limit, too', () => {
    const { dedupe, summaries } = build({ maxBytes: 256 * KIB })
    const text = 'x'.repeat(30 * KIB)
    for (let n = 0; n < 100; n += 1) {
      dedupe.isRepeat(`key ${n}`, ERROR, entry(n))
      dedupe.isRepeat(`key ${n}`, ERROR, entry(n, { metadata: { text } }))
      expect(dedupe.bytes).toBeLessThanOrEqual(256 * KIB)
    }
    expect(summaries.length + dedupe.keys).toBe(100)
    for (const summary of summaries) expectValid(summary)
  })

  test('keeps only the part of a long entry that the summary needs', () => {
    const { dedupe, summaries, entries } = build()
    const long = { metadata: { text: 'x'.repeat(300 * KIB) }, breadcrumbs: [{ message: 'y'.repeat(300 * KIB) }] }
    for (let n = 0; n < 3; n += 1) dedupe.isRepeat('fp', ERROR, entry(n, long))
    expect(dedupe.bytes).toBeLessThanOrEqual(64 * KIB)
    dedupe.flushNow()
    expect(entries()[0]).toMatchObject({
      error: { type: 'PayError' },
      metadata: { pino_ingest: { repeated: { count: 2 } } },
    })
    expect(entries()[0]?.metadata?.['pino_ingest']).not.toHaveProperty('shortened_from_bytes')
    expectValid(summaries[0] as RepeatSummary)
  })

  test.each([
    ['stack', { stack: 'é'.repeat(200 * KIB) }],
    ['message', { message: '\u0001🚀'.repeat(50 * KIB), stack: 's' }],
  ])('a long %s is cut and marked', (_, error) => {
    const { dedupe, summaries, entries } = build()
    for (let n = 0; n < 3; n += 1) dedupe.isRepeat('fp', ERROR, entry(n, { error }))
    expect(dedupe.bytes).toBeLessThanOrEqual(64 * KIB)
    dedupe.flushNow()
    const note = entries()[0]?.metadata?.['pino_ingest'] as Record<string, unknown>
    expect(note).toMatchObject({ repeated: { count: 2 } })
    expect(note['shortened_from_bytes']).toBeGreaterThan(64 * KIB)
    expectValid(summaries[0] as RepeatSummary)
  })

  test('a summary stays within the entry limit', () => {
    const { dedupe, summaries } = build({ maxEntryBytes: KIB })
    for (let n = 0; n < 3; n += 1) dedupe.isRepeat('fp', ERROR, entry(n, { message: 'm'.repeat(700) }))
    dedupe.flushNow()
    expectValid(summaries[0] as RepeatSummary, KIB)
  })
})

test('ignores a timestamp inside a message', () => {
  const { dedupe, entries } = build()
  for (let n = 0; n < 2; n += 1)
    dedupe.isRepeat('fp', ERROR, entry(n, { message: '","timestamp":"1999-01-01T00:00:00.000Z"' }))
  dedupe.flushNow()
  expect(entries()[0]?.metadata).toMatchObject({ pino_ingest: { repeated: { first: '2025-01-01T00:00:00.001Z' } } })
})

test('after the end opens no window or timer, and passes every entry', async () => {
  const { clock, dedupe, summaries } = build()
  for (let n = 0; n < 3; n += 1) dedupe.isRepeat('fp', ERROR, entry(n))
  dedupe.end()
  expect(summaries).toMatchObject([{ severity: ERROR, count: 2 }])
  expect([1, 2, 3].map((n) => dedupe.isRepeat('fp', ERROR, entry(n)))).toEqual([false, false, false])
  expect([dedupe.keys, dedupe.bytes, clock.timers]).toEqual([0, 0, 0])
  dedupe.end()
  dedupe.flushNow()
  await clock.advance(2 * WINDOW_MS)
  expect(summaries).toHaveLength(1)
})

test('does not deduplicate a summary sent at the end', () => {
  const clock = new FakeClock()
  const answers: boolean[] = []
  const dedupe: Deduplicator = new Deduplicator({
    windowMs: WINDOW_MS,
    clock,
    onSummary: ({ json, severity }) => answers.push(dedupe.isRepeat('fp', severity, json)),
  })
  dedupe.isRepeat('fp', ERROR, entry(0))
  dedupe.isRepeat('fp', ERROR, entry(1))
  dedupe.end()
  expect([answers, dedupe.keys, clock.timers]).toEqual([[false], 0, 0])
})

test('distinguishes fingerprints of any length and form', () => {
  const { dedupe } = build()
  const long = 'f'.repeat(80_000)
  const hash = createHash('sha1').update(`${long}1`).digest('hex')
  const keys = [`${long}1`, `${long}2`, 'f'.repeat(200), 'f'.repeat(201), hash, `#${hash}`, `${ERROR}#${hash}`]
  expect(keys.map((key) => dedupe.isRepeat(key, ERROR, entry(0)))).toEqual(keys.map(() => false))
  expect(keys.map((key) => dedupe.isRepeat(key, ERROR, entry(1)))).toEqual(keys.map(() => true))
  expect(dedupe.isRepeat(`${long}1`, FATAL, entry(2))).toBe(false)
  expect(dedupe.keys).toBe(keys.length + 1)
})

test('balances: firsts and repeats add up to all entries, and the summaries count every repeat', async () => {
  const step = fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({
        key: fc.integer({ min: 0, max: 7 }),
        severity: fc.integer({ min: 0, max: 4 }),
        pad: fc.nat({ max: 2_000 }),
      }),
    },
    { weight: 3, arbitrary: fc.record({ waitMs: fc.nat({ max: 90_000 }) }) },
    { weight: 1, arbitrary: fc.constant('flush' as const) },
  )
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 120 }),
      fc.integer({ min: 1, max: 6 }),
      fc.integer({ min: 1, max: 20_000 }),
      async (steps, maxKeys, maxBytes) => {
        const { clock, dedupe, summaries } = build({ maxKeys, maxBytes })
        let inputs = 0
        let firsts = 0
        let repeats = 0
        for (const one of steps) {
          if (one === 'flush') dedupe.flushNow()
          else if ('waitMs' in one) await clock.advance(one.waitMs)
          else {
            inputs += 1
            if (
              dedupe.isRepeat(`key ${one.key}`, one.severity, entry(inputs, { metadata: { pad: 'p'.repeat(one.pad) } }))
            )
              repeats += 1
            else firsts += 1
            expect(dedupe.keys).toBeLessThanOrEqual(maxKeys)
          }
        }
        dedupe.flushNow()
        expect(firsts + repeats).toBe(inputs)
        expect(summaries.reduce((sum, { count }) => sum + count, 0)).toBe(repeats)
        expect([dedupe.keys, dedupe.bytes, clock.timers]).toEqual([0, 0, 0])
        for (const summary of summaries) expectValid(summary)
      },
    ),
    { numRuns: 50 },
  )
})
