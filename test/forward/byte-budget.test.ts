/** Limits of the bytes that a forwarder holds. */
import { expect, test } from 'vitest'
import { ByteBudget } from '../../src/forward/byte-budget.js'
import type { Share } from '../../src/forward/byte-budget.js'
import { settled } from '../fake-clock.js'

interface Unpacking {
  readonly share: Share
  readonly started: () => boolean
  readonly end: (bytes?: number) => void
  readonly result: Promise<string | undefined>
}

function unpack(budget: ByteBudget, expected: number, compressed = 1): Unpacking {
  const share = budget.take(compressed)
  let hasStarted = false
  let end = (_bytes?: number): void => {}
  const result = budget.unpack(share, expected, () => {
    hasStarted = true
    return new Promise<readonly [string, number]>((resolve) => (end = (bytes = expected) => resolve(['body', bytes])))
  })
  return { share, started: () => hasStarted, end: (bytes) => end(bytes), result }
}

test('received messages count immediately', () => {
  const budget = new ByteBudget(100)
  const share = budget.take(30)
  expect(budget.left).toBe(70)
  const other = budget.take(80)
  expect(budget.left).toBe(0)
  budget.give(share)
  budget.give(other)
  budget.give(other)
  expect(budget.left).toBe(100)
})

test('unpacks one batch after the other while there is room', async () => {
  const budget = new ByteBudget(100)
  const [first, second, third] = [unpack(budget, 40), unpack(budget, 40), unpack(budget, 40)]
  await settled()
  expect([first, second, third].map(({ started }) => started())).toEqual([true, false, false])
  first.end()
  await settled()
  expect([second, third].map(({ started }) => started())).toEqual([true, false])
  second.end()
  await settled()
  expect([await first.result, third.started()]).toEqual(['body', false])
  // Until then no other message is received.
  expect(budget.left).toBe(0)
  budget.give(first.share)
  await settled()
  expect(third.started()).toBe(true)
  third.end()
  await settled()
  expect(budget.left).toBe(100 - 2 * 41)
})

test('a single batch may have any size, even if its stated length is wrong', async () => {
  const budget = new ByteBudget(100)
  const [large, small] = [unpack(budget, 0), unpack(budget, 1)]
  await settled()
  large.end(500)
  await settled()
  expect(small.started()).toBe(false)
  budget.give(large.share)
  await settled()
  expect(small.started()).toBe(true)
})

test('a batch that cannot be unpacked releases its share', async () => {
  const budget = new ByteBudget(100)
  const share = budget.take(10)
  await expect(budget.unpack(share, 50, () => Promise.reject(new Error('damaged')))).rejects.toThrow('damaged')
  budget.give(share)
  expect(budget.left).toBe(100)
})

test('close() ends all waits without unpacking', async () => {
  const budget = new ByteBudget(100)
  const [first, second] = [unpack(budget, 90), unpack(budget, 90)]
  await settled()
  budget.close()
  expect(await second.result).toBe(undefined)
  first.end()
  expect(await first.result).toBe('body')
})
