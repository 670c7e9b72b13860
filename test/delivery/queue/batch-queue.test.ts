/**
 * Queues of the batch queue: batches beyond the memory limit wait on disk and return in order; every fourth batch comes from
 * earlier processes.
 */
import { describe, expect, test } from 'vitest'
import { BatchQueue } from '../../../src/delivery/queue/batch-queue.js'
import type { QueueDisk } from '../../../src/delivery/queue/queued-batch.js'
import type { Batch, SegmentPosition } from '../../../src/batch/batch.js'
import { FakeClock, settled } from '../../fake-clock.js'
import { batchOf } from '../scripted-sender.js'

type Placed = Batch & { readonly place: SegmentPosition }

const KIB = 1024

/** Adds a property with a getter to the object. */
function lengthened<Name extends string, Value, Rest extends object>(
  name: Name,
  get: () => Value,
  rest: Rest,
): Rest & { readonly [key in Name]: Value } {
  return Object.defineProperty(rest, name, { get }) as Rest & { readonly [key in Name]: Value }
}

/** A disk in memory that reads in a later tick. */
class FakeDisk implements QueueDisk {
  readonly waiting: Batch[] = []
  readonly left: Batch[] = []
  passed = 0
  readonly spilled = lengthened(
    'batches',
    () => this.waiting.length,
    lengthened('hasMore', () => this.waiting.length > 0, {
      push: (batch: Placed) => void this.waiting.push(batch),
      unshift: (batch: Placed) => void this.waiting.unshift(batch),
      pass: () => void (this.passed += 1),
      next: (take: (batch: Batch) => void) => this.#next(this.waiting, take),
    }),
  )
  readonly recovery = lengthened('hasMore', () => this.left.length > 0, {
    next: (take: (batch: Batch) => void) => this.#next(this.left, take),
  })

  async #next(from: Batch[], take: (batch: Batch) => void): Promise<boolean> {
    await settled()
    const batch = from.shift()
    // A batch handed over without its body has it on disk.
    if (batch !== undefined) take(batch.body.length === 0 ? { ...batch, body: new Uint8Array(976) } : batch)
    return batch !== undefined
  }
}

const stored = (name: string, body?: Uint8Array): Placed => ({
  ...batchOf(name),
  ...(body !== undefined && { body }),
  place: { segment: 1, offset: 0 },
  acknowledgement: {
    isDurable: true,
    createPart: () => ({
      createPart: () => {
        throw new Error('no part here')
      },
      acknowledge: () => {},
    }),
    acknowledge: () => {},
  },
})

/** Each batch takes 2,000 bytes. */
function setup(maxBufferBytes: number, recoverForMs?: number, maxConcurrency = 32) {
  const onDisk = new FakeDisk()
  const clock = new FakeClock()
  const service = { isDown: false }
  const queue = new BatchQueue({
    maxBufferBytes,
    disk: onDisk,
    clock,
    maxConcurrency,
    isDown: () => service.isDown,
    ...(recoverForMs !== undefined && { recoverForMs }),
  })
  const take = async (count: number): Promise<string[]> => {
    const names: string[] = []
    for (let n = 0; n < count; n += 1) {
      const held = queue.shift()
      if (held === undefined) break
      names.push(held.batch.batchId)
      queue.settled(held, 1)
      await settled()
      await settled()
    }
    return names
  }
  return { queue, clock, onDisk, service, take }
}

const names = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, n) => `${prefix}${n}`)

describe('batches on disk', () => {
  test('release their memory beyond the limit, and return in order', async () => {
    const { queue, onDisk, take } = setup(10_000)
    for (const name of names('b', 20)) expect(queue.push(stored(name), 0)).toEqual([])
    expect(queue.bytes).toBeLessThanOrEqual(10_000)
    expect(onDisk.waiting).toHaveLength(15)
    expect(queue.oldest).toEqual({ durable: 0, memoryOnly: 0 })
    expect(await take(20)).toEqual(names('b', 20))
    expect(queue.oldest).toEqual(queue.watermark)
  })

  test('return as they are sent: at most 256 KiB plus one batch wait in memory for any limit', async () => {
    const { queue } = setup(8 * KIB * KIB)
    for (let n = 0; n < 5_000; n += 1) queue.push(stored(`b${n}`, new Uint8Array(0)), 0)
    await settled()
    queue.refill()
    let most = 0
    for (let sent = 0; sent < 1_000; sent += 1) {
      for (let before = -1; before !== queue.bytes; await settled()) before = queue.bytes
      most = Math.max(most, queue.bytes)
      expect(queue.shift()?.batch.batchId).toBe(`b${sent}`)
    }
    expect(most).toBeGreaterThan(128 * KIB)
    expect(most).toBeLessThan(260 * KIB)
  })

  test('are sent before a new batch, even if memory is free again', async () => {
    const { queue, take } = setup(10_000)
    for (const name of names('b', 8)) queue.push(stored(name), 0)
    const first = await take(2)
    queue.push(stored('b8'), 0)
    expect([...first, ...(await take(9))]).toEqual(names('b', 9))
  })

  test('stay on disk if they were handed over without a body', async () => {
    const { queue, onDisk, take } = setup(100 * KIB)
    queue.push(stored('bare', new Uint8Array(0)), 0)
    expect(onDisk.waiting).toHaveLength(1)
    queue.refill()
    await settled()
    await settled()
    expect(await take(1)).toEqual(['bare'])
  })
})

describe('after an outage', () => {
  /** Queues twelve batches while the service is down; a quarter of the memory holds some of them. */
  async function afterOutage(maxConcurrency?: number) {
    const all = setup(20_000, undefined, maxConcurrency)
    all.service.isDown = true
    for (const name of names('old', 12)) all.queue.push(stored(name), 0)
    all.service.isDown = false
    for (let turn = 0; turn < 20; turn += 1) await settled()
    return all
  }

  test('new batches overtake the backlog, which gets every fourth place', async () => {
    const { queue, onDisk, take } = await afterOutage()
    expect(onDisk.waiting.length).toBeGreaterThan(8)
    for (const name of names('new', 6)) queue.push(stored(name), 0)
    expect(onDisk.passed).toBe(6)
    const taken = await take(18)
    const at = (name: string): number => taken.indexOf(name)
    expect(at('new5')).toBeLessThan(10)
    expect(taken.filter((name) => name.startsWith('old'))).toEqual(names('old', 12))
    expect(taken.filter((name) => name.startsWith('new'))).toEqual(names('new', 6))
    expect(at('old11')).toBe(17)
    expect(queue.oldest).toEqual(queue.watermark)
  })

  test('the backlog progresses even if new batches fill the memory all the time', async () => {
    const { queue, take } = await afterOutage()
    const taken: string[] = []
    for (let n = 0; n < 100; n += 1) {
      for (let more = 0; queue.bytes < 16_000; more += 1) queue.push(stored(`new${n}-${more}`), 0)
      taken.push(...(await take(1)))
    }
    expect(taken.filter((name) => name.startsWith('old'))).toEqual(names('old', 12))
  })

  test('a flush waits for the backlog, even if newer batches are settled', async () => {
    const { queue, take } = await afterOutage()
    queue.push(stored('new'), 0)
    const { watermark: mark } = queue
    const taken = await take(12)
    expect(taken).toContain('new')
    expect(queue.oldest.durable).toBeLessThan(mark.durable)
    await take(1)
    expect(queue.oldest).toEqual(mark)
  })

  test('in another outage new batches join the end of the backlog', async () => {
    const { queue, service, onDisk, take } = await afterOutage()
    queue.push(stored('new0'), 0)
    service.isDown = true
    queue.push(stored('new1'), 0)
    expect(onDisk.waiting.at(-1)?.batchId).toBe('new1')
    service.isDown = false
    expect((await take(14)).at(-1)).toBe('new1')
  })

  test('moveToBacklog() includes batches in memory', async () => {
    const { queue, service, take } = setup(20_000)
    service.isDown = true
    for (const name of names('old', 2)) queue.push(stored(name), 0)
    service.isDown = false
    queue.moveToBacklog()
    queue.push(stored('new'), 0)
    expect(queue.oldest).toEqual({ durable: 0, memoryOnly: 0 })
    expect(await take(3)).toEqual(['new', 'old0', 'old1'])
  })

  test('keeps the order with one request at a time', async () => {
    const { queue, take } = await afterOutage(1)
    for (const name of names('new', 6)) queue.push(stored(name), 0)
    const first = await take(12)
    queue.push(stored('new6'), 0)
    expect([...first, ...(await take(7))]).toEqual([...names('old', 12), ...names('new', 7)])
  })

  test('keeps the order if the service was only slow', async () => {
    const { queue, take } = setup(20_000)
    for (const name of names('b', 12)) queue.push(stored(name), 0)
    const first = await take(6)
    for (const name of names('c', 6)) queue.push(stored(name), 0)
    expect([...first, ...(await take(12))]).toEqual([...names('b', 12), ...names('c', 6)])
  })
})

describe('batches in memory only', () => {
  test('first spill batches that are also on disk, then drop the oldest', () => {
    const { queue, onDisk } = setup(10_000)
    for (const name of names('s', 5)) queue.push(stored(name), 0)
    for (const name of names('l', 5)) expect(queue.push(batchOf(name), 0)).toEqual([])
    expect(onDisk.waiting.map(({ batchId }) => batchId)).toEqual(names('s', 5))
    expect(queue.push(batchOf('l5'), 0).map(({ batchId }) => batchId)).toEqual(['l0'])
  })

  test('are refused if the batches in flight fill the memory', () => {
    const { queue } = setup(10_000)
    expect(queue.push(batchOf('l'), 9_000).map(({ batchId }) => batchId)).toEqual(['l'])
  })
})

describe('batches of earlier processes', () => {
  test('are every fourth batch while the app logs, and sent without interruption otherwise', async () => {
    const { queue, onDisk, take } = setup(100 * KIB)
    onDisk.left.push(...names('r', 6).map((name) => batchOf(name)))
    queue.refill()
    for (let turn = 0; turn < 20; turn += 1) await settled()
    for (const name of names('b', 9)) queue.push(stored(name), 0)
    expect((await take(15)).join(' ')).toBe('b0 b1 b2 r0 b3 b4 b5 r1 b6 b7 b8 r2 r3 r4 r5')
  })

  test('are limited in memory and in flight', async () => {
    const { queue, onDisk } = setup(100 * KIB)
    onDisk.left.push(...names('r', 100).map((name) => batchOf(name, 1, 300 * KIB)))
    queue.refill()
    for (let turn = 0; turn < 300; turn += 1) await settled()
    expect(100 - onDisk.left.length).toBeLessThanOrEqual(3)
    let inFlight = 0
    while (queue.shift() !== undefined) {
      inFlight += 1
      for (let turn = 0; turn < 10; turn += 1) await settled()
    }
    expect(inFlight).toBeLessThanOrEqual(4)
  })

  test('wait if they would keep a short script alive', async () => {
    const { queue, clock, onDisk } = setup(100 * KIB, 3_000)
    onDisk.left.push(batchOf('r0'), batchOf('r1'))
    await clock.advance(3_001)
    queue.refill()
    await settled()
    expect(queue.shift()).toBeUndefined()
    queue.push(stored('b0'), 0)
    expect(queue.shift()?.batch.batchId).toBe('b0')
    await settled()
    await settled()
    expect(queue.shift()?.batch.batchId).toBe('r0')
  })
})
