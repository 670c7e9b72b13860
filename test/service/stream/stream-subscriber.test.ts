/** One subscriber of the stream, with a mock clock and connection. */
import { describe, expect, it } from 'vitest'
import { EventStreamParser } from '../../../src/service/stream/server-sent-events.js'
import {
  MAX_WAITING_ENTRIES,
  MIN_INTERVAL_MS,
  StreamSubscriber,
} from '../../../src/service/stream/stream-subscriber.js'
import type { EntrySummary } from '../../../src/service/query/api-types.js'
import { FakeClock } from '../../fake-clock.js'

interface Received {
  readonly atMs: number
  readonly event: string
  // oxlint-disable-next-line typescript/no-explicit-any -- events have every shape; expect() is what checks them
  readonly data: any
  readonly id: string | undefined
}

function setUp() {
  const time = new FakeClock()
  const received: Received[] = []
  const parser = new EventStreamParser()
  const wire = { takes: true, characters: 0, writes: 0 }
  const write = (text: string): boolean => {
    wire.characters += text.length
    wire.writes++
    for (const { event, data, id } of parser.push(text))
      received.push({ atMs: time.now(), event, data: JSON.parse(data), id })
    return wire.takes
  }
  const reader = new StreamSubscriber({ write, clock: time })
  return { time, received, wire, reader }
}

function lines(from: number, count: number): EntrySummary[] {
  return Array.from({ length: count }, (_, n) => ({ seq: from + n }) as EntrySummary)
}

function seqs(received: readonly Received[]): number[] {
  return received.flatMap(({ event, data }) =>
    event === 'entries' ? data.items.map(({ seq }: EntrySummary) => seq) : [],
  )
}

function skipped(received: readonly Received[]): number {
  return received.reduce((sum, { event, data }) => sum + (event === 'entries' ? data.skipped : 0), 0)
}

function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1)
}

describe('the rate of events', () => {
  it('the first event is sent immediately, the next at most every 50 ms; nothing waits longer', async () => {
    const { time, received, reader } = setUp()
    for (let ms = 0; ms < 990; ms++) {
      reader.entries(lines(ms + 1, 1))
      await time.advance(1)
    }
    expect(received).toHaveLength(20)
    expect(received[0]).toMatchObject({ atMs: 0, id: '1' })
    for (const [n, { atMs }] of received.entries()) expect(atMs).toBe(n * MIN_INTERVAL_MS)
    await time.advance(MIN_INTERVAL_MS)
    expect(seqs(received)).toEqual(upTo(990))
    expect(skipped(received)).toBe(0)
    expect(time.timers).toBe(0)
  })
})

describe('a slow reader', () => {
  it('gets no data, not even a comment, until its connection is drained', async () => {
    const { time, received, wire, reader } = setUp()
    wire.takes = false
    reader.entries(lines(1, 1))
    await time.advance(1000)
    reader.entries(lines(2, 1))
    reader.reset(7)
    reader.changed('feedback')
    reader.comment()
    await time.advance(1000)
    expect([wire.writes, time.timers]).toEqual([1, 0])
    wire.takes = true
    reader.drained()
    await time.advance(0)
    expect(received.map(({ event }) => event)).toEqual(['entries', 'reset', 'changed'])
  })

  it('skips the oldest entries, and gets their number and the newest in order', async () => {
    const { time, received, wire, reader } = setUp()
    wire.takes = false
    reader.entries(lines(1, 1))
    await time.advance(1)
    for (let from = 2; from <= 100_001; from += 100) reader.entries(lines(from, 100))
    wire.takes = true
    reader.drained()
    await time.advance(1000)
    expect(seqs(received).slice(1)).toEqual(upTo(100_001).slice(-MAX_WAITING_ENTRIES))
    expect(seqs(received).length + skipped(received)).toBe(100_001)
    expect(received[1]?.data.skipped).toBe(100_000 - MAX_WAITING_ENTRIES)
    expect(received.slice(2).every(({ data }) => data.skipped === 0)).toBe(true)
  })
})
