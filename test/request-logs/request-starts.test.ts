/** The limits of requests that wait for their second record. */
import { expect, test } from 'vitest'
import { RequestStarts } from '../../src/request-logs/request-starts.js'
import type { RequestStart } from '../../src/request-logs/request-starts.js'
import { FakeClock } from '../fake-clock.js'

const start = (request: string): RequestStart => ({ request, metadata: '', fastifyCount: 0 })
const MINUTE_MS = 60_000

test('keeps 10,000 requests, then removes the oldest', () => {
  const starts = new RequestStarts(new FakeClock())
  for (let n = 0; n < 10_001; n += 1) starts.set(`${n}`, start(`/${n}`))
  expect(starts.size).toBe(10_000)
  expect(starts.get('0')).toBeUndefined()
  expect(starts.get('1')?.request).toBe('/1')
  // A request that starts again counts as new.
  starts.set('1', start('/again'))
  starts.set('x', start('/x'))
  expect([starts.get('1')?.request, starts.get('2'), starts.size]).toEqual(['/again', undefined, 10_000])
})

test('keeps them for 5 minutes', async () => {
  const clock = new FakeClock()
  const starts = new RequestStarts(clock)
  starts.set('a', start('/a'))
  await clock.advance(3 * MINUTE_MS)
  starts.set('b', start('/b'))
  await clock.advance(2 * MINUTE_MS)
  expect(starts.get('a')?.request).toBe('/a')
  await clock.advance(1)
  expect([starts.get('a'), starts.get('b')?.request]).toEqual([undefined, '/b'])
  // Old ones are removed without the start of another request.
  await clock.advance(4 * MINUTE_MS)
  expect([starts.get('c'), starts.size]).toEqual([undefined, 0])
  expect(clock.timers).toBe(0)
})

test('limits the memory of long paths', () => {
  const starts = new RequestStarts(new FakeClock())
  for (let n = 0; n < 1_000; n += 1) starts.set(`${n}`, start(`/${'x'.repeat(100_000)}`))
  expect(starts.size).toBeLessThanOrEqual(42)
  expect(starts.get('999')).toBeDefined()
  // A single path that is too long is not kept.
  starts.set('big', start('x'.repeat(5_000_000)))
  expect(starts.size).toBe(0)
  starts.set('a', start('/a'))
  starts.delete('a')
  starts.delete('a')
  expect(starts.size).toBe(0)
  for (let n = 0; n < 10_000; n += 1) starts.set(`${n}`, start('/'))
  expect(starts.size).toBe(10_000)
})
