import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Batcher } from '../../src/pipeline/batcher.js'
import type { BatcherOptions } from '../../src/pipeline/batcher.js'
import { MAX_TIMER_MS } from '../../src/shared/clock.js'
import type { Clock } from '../../src/shared/clock.js'
import type { Batch } from '../../src/batch/batch.js'
import { FakeClock } from '../fake-clock.js'

interface Body {
  readonly batch_id: string
  readonly logs: unknown[]
}

type SetupOptions = Partial<Omit<BatcherOptions, 'batch'>> & {
  readonly batch?: Partial<BatcherOptions['batch']>
  readonly bytes?: number
}

function setup({ batch: limits, bytes = Infinity, ...options }: SetupOptions = {}) {
  const clock = new FakeClock()
  const batches: Batch[] = []
  const batcher = new Batcher({
    batch: { size: 100, intervalMs: 1000, ...limits },
    clock,
    onBatch: (batch) => batches.push(batch),
    ...options,
  })
  batcher.limitBytes(bytes)
  return { clock, batches, batcher, bodies: () => batches.map(bodyOf) }
}

function bodyOf(batch: Batch): Body {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(batch.body)) as Body
}

describe('cuts', () => {
  test.each([1, 3, 100])('at %i entries, the configured size', (size) => {
    const { batcher, batches } = setup({ batch: { size } })
    for (let n = 0; n <= size; n++) batcher.add('{}', 1)
    expect(batches.map(({ count }) => count)).toEqual(size === 1 ? [1, 1] : [size])
  })

  test('by the exact bytes of the whole body', () => {
    const newId = () => 'id'
    const envelope = '{"batch_id":"id","logs":[]}'.length
    const entry = '"ä€😀"' // 2 + 2 + 3 + 4 bytes
    const exact = setup({ newId, bytes: envelope + 2 * 11 + 1 })
    for (let n = 0; n < 4; n++) exact.batcher.add(entry, 1)
    expect(exact.batches.map(({ count, body }) => [count, body.length])).toEqual([
      [2, envelope + 23],
      [2, envelope + 23],
    ])
    const short = setup({ newId, bytes: envelope + 2 * 11 })
    for (let n = 0; n < 4; n++) short.batcher.add(entry, 1)
    short.batcher.seal()
    expect(short.batches.map(({ count }) => count)).toEqual([1, 1, 1, 1])
  })

  test('by a limit set later', () => {
    const { batcher, batches } = setup({ bytes: 1000 })
    const addAll = (): number[] => {
      for (let n = 0; n < 20; n++) batcher.add(`"${'x'.repeat(98)}"`, 1)
      batcher.seal()
      return batches.splice(0).map(({ body }) => body.length)
    }
    expect(Math.max(...addAll())).toBeGreaterThan(900)
    for (let n = 0; n < 5; n++) batcher.add(`"${'x'.repeat(98)}"`, 1)
    batcher.limitBytes(500)
    expect(batcher.freeBytes).toBe(0)
    batcher.seal()
    batches.splice(0)
    expect(Math.max(...addAll())).toBeLessThanOrEqual(500)
    batcher.limitBytes(Infinity)
    expect(Math.max(...addAll())).toBeGreaterThan(1000)
  })

  test('before an oversized entry, which is sent alone and immediately', () => {
    const { batcher, batches, bodies } = setup({ bytes: 1000 })
    const giant = JSON.stringify('x'.repeat(500_000))
    batcher.add('1', 1)
    batcher.add(giant, 1)
    expect(bodies().map(({ logs }) => logs)).toEqual([[1], [JSON.parse(giant)]])
    batcher.add('2', 1)
    batcher.seal()
    expect(batches.map(({ count }) => count)).toEqual([1, 1, 1])
  })

  test.each([
    ['at the start', 20, () => {}],
    [
      'after a pause',
      50,
      async (batcher: Batcher, clock: FakeClock) => {
        batcher.add('0', 1)
        batcher.seal()
        await clock.advance(500)
      },
    ],
  ])('soon %s, with the entries added meanwhile', async (_, lingerMs, begin) => {
    const { batcher, batches, clock } = setup({ batch: { intervalMs: 500 } })
    await begin(batcher, clock)
    const before = batches.length
    expect(clock.timers).toBe(0)
    batcher.add('1', 1)
    await clock.advance(lingerMs - 10)
    batcher.add('2', 1)
    expect(clock.timers).toBe(1)
    await clock.advance(9)
    expect(batches).toHaveLength(before)
    await clock.advance(1)
    expect(batches.slice(before).map(({ count }) => count)).toEqual([2])
    expect(clock.timers).toBe(0)
  })

  test('by the interval, at most once per interval', async () => {
    const { batcher, batches, clock } = setup({ batch: { intervalMs: 500 } })
    batcher.add('1', 1)
    batcher.seal()
    batcher.add('2', 1)
    await clock.advance(499)
    batcher.add('3', 1)
    expect(batches.map(({ count }) => count)).toEqual([1])
    await clock.advance(1)
    expect(batches.map(({ count }) => count)).toEqual([1, 2])
    await clock.advance(100)
    batcher.add('4', 1)
    await clock.advance(399)
    expect(batches).toHaveLength(2)
    await clock.advance(1)
    expect(batches.map(({ count }) => count)).toEqual([1, 2, 1])
    expect(clock.timers).toBe(0)
  })
})

test('an interval longer than the maximum timer delay is kept', async () => {
  const inner = new FakeClock()
  const clock: Clock = {
    now: () => inner.now(),
    wallNow: () => inner.wallNow(),
    timer: (delayMs, fire) => inner.timer(Math.min(delayMs, MAX_TIMER_MS), fire),
  }
  const { batcher, batches } = setup({ clock, batch: { intervalMs: 2 ** 31 + 10_000 } })
  batcher.add('1', 1)
  batcher.seal()
  batcher.add('2', 1)
  await inner.advance(2 ** 31 + 9_000)
  expect(batches).toHaveLength(1)
  await inner.advance(1_001)
  expect(batches).toHaveLength(2)
})

test('every batch has its own id and its highest severity', () => {
  const { batcher, batches, bodies } = setup({ batch: { size: 2 } })
  for (const severity of [1, 4, 0, 0, 3, 2]) batcher.add('{}', severity)
  expect(batches.map(({ highestSeverity }) => highestSeverity)).toEqual([4, 0, 3])
  expect(bodies().map(({ batch_id }) => batch_id)).toEqual(batches.map(({ batchId }) => batchId))
  expect(new Set(batches.map(({ batchId }) => batchId)).size).toBe(3)
  for (const { batchId } of batches) expect(batchId).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test('a body retains only its own bytes, and later entries do not change it', () => {
  const { batcher, batches } = setup({ batch: { size: 2 } })
  for (let n = 0; n < 6; n++) batcher.add(`"${'abc'[n % 3]?.repeat(200)}"`, 1)
  const copies = batches.map(({ body }) => Buffer.from(body).toString())
  for (let n = 0; n < 50; n++) batcher.add('"zzz"', 1)
  expect(batches.slice(0, 3).map(({ body }) => Buffer.from(body).toString())).toEqual(copies)
  for (const { body } of batches) expect(body.buffer.byteLength).toBe(body.length)
})

test('onBatch may add an entry', () => {
  const taken: Body[] = []
  const batcher: Batcher = new Batcher({
    batch: { size: 2, intervalMs: 1000 },
    clock: new FakeClock(),
    onBatch(batch) {
      taken.push(bodyOf(batch))
      if (taken.length <= 3) batcher.add('"notice"', 2)
    },
  })
  for (const entry of ['1', '2', '3', `"${'x'.repeat(60)}"`, `"${'y'.repeat(60)}"`]) batcher.add(entry, 1)
  batcher.seal()
  const logs = taken.flatMap((body) => body.logs)
  expect(logs.filter((entry) => entry === 'notice')).toHaveLength(3)
  expect(logs.filter((entry) => entry !== 'notice')).toEqual([1, 2, 3, 'x'.repeat(60), 'y'.repeat(60)])
  expect(batcher.pendingEntries).toBe(0)
})

test('append() of the log may add an entry, which overwrites the bytes of the one being added', () => {
  const memory = Buffer.from('"outer"')
  let hasAdded = false
  const { batcher, bodies } = setup({
    log: {
      append: () => {
        if (hasAdded) return
        hasAdded = true
        memory.write('"inner"')
        batcher.add({ memory, start: 0, end: memory.length }, 1)
      },
      flush: () => true,
      seal: (batch) => batch,
    },
  })
  const long = JSON.stringify('x'.repeat(3_700))
  for (let n = 0; n < 9; n++) batcher.add(long, 1)
  batcher.add({ memory, start: 0, end: memory.length }, 1)
  batcher.seal()
  const logs = bodies().flatMap((body) => body.logs)
  expect(logs).toHaveLength(11)
  expect(logs).toEqual(expect.arrayContaining(['inner', 'outer']))
})

test('seal() of the log may add an entry and seal again', () => {
  const { batcher, batches } = setup({
    batch: { size: 4 },
    log: {
      append: () => {},
      flush: () => true,
      seal: (batch) => {
        if (batches.length === 0 && batcher.pendingEntries === 2) {
          batcher.add('"from the listener"', 1)
          batcher.seal()
        }
        return batch
      },
    },
  })
  batcher.add('"a"', 1)
  batcher.add('"b"', 1)
  batcher.seal()
  expect(batches.map((batch) => JSON.parse(Buffer.from(batch.body).toString()).logs)).toEqual([
    ['a', 'b'],
    ['from the listener'],
  ])
  expect(batches.map(({ count }) => count)).toEqual([2, 1])
  expect(batcher.pendingEntries).toBe(0)
})

test('keeps all entries once and in order, within the limits, with the exact body', () => {
  const entry = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme', maxLength: 200 }),
    fc.record({ message: fc.string({ unit: 'binary' }), n: fc.integer() }),
    fc.nat(200).map((length) => '€'.repeat(length * length)),
  )
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 20, arbitrary: entry }, { weight: 1, arbitrary: fc.constant('seal' as const) }), {
        maxLength: 400,
      }),
      fc.integer({ min: 1, max: 100 }),
      fc.integer({ min: 100, max: 100_000 }),
      (entries, size, bytes) => {
        const { batcher, batches, bodies } = setup({ batch: { size }, bytes })
        for (const [n, value] of entries.entries()) {
          if (value === 'seal') batcher.seal()
          else batcher.add(JSON.stringify(value), 1)
          const added = entries.slice(0, n + 1).filter((one) => one !== 'seal').length
          expect(batches.reduce((sum, { count }) => sum + count, batcher.pendingEntries)).toBe(added)
        }
        const open = batcher.pendingBytes
        const before = batches.length
        batcher.seal()
        if (batches.length > before) expect(batches.at(-1)?.body.length).toBe(open)
        expect(batcher.pendingBytes).toBe(0)

        const expected = entries.filter((one) => one !== 'seal')
        expect(bodies().flatMap(({ logs }) => logs)).toEqual(JSON.parse(JSON.stringify(expected)))
        for (const batch of batches) {
          const { batch_id, logs } = bodyOf(batch)
          expect(logs).toHaveLength(batch.count)
          expect(batch.count).toBeLessThanOrEqual(size)
          expect(batch.body.length <= bytes || batch.count === 1).toBe(true)
          expect(Buffer.from(batch.body).toString()).toBe(JSON.stringify({ batch_id, logs }))
        }
      },
    ),
    { numRuns: 60 },
  )
})
