/** Replies that take longer than a second while delivery ends. */
import { expect, test } from 'vitest'
import { many, OK, setup, watch } from './setup.js'

test('a drain waits for all of them until its deadline', async () => {
  const latencyMs = ({ number }: { readonly number: number }): number => (number === 1 ? 25 : 1_000 * number)
  const { clock, scheduler, enqueue, account } = setup(() => OK, { latencyMs })
  enqueue(...many(4))
  await clock.advance(100)
  const drained = watch(scheduler.drain(30_000, () => ''))
  await clock.advance(10_000)
  expect(drained.done).toBe(true)
  expect(account.snapshot()).toMatchObject({ accepted: 4, pending: 0 })
})

test('a drain with a number of failures ends after them', async () => {
  const { clock, scheduler, enqueue, requests } = setup(() => ({ kind: 'retryable', status: 503, reason: 'down' }))
  enqueue(...many(1))
  const drained = watch(scheduler.drain(600_000, () => '', 3))
  await clock.advance(300_000)
  expect([drained.done, requests.length]).toEqual([true, 3])
})
