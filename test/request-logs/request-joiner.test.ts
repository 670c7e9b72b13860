/** The bounds of what waits for its second half. */
import { expect, test } from 'vitest'
import { RequestJoiner } from '../../src/request-logs/request-joiner.js'
import { FakeClock } from '../fake-clock.js'

const opening = (path: string): { method: string; path: string; labels: object } => ({
  method: 'GET',
  path,
  labels: {},
})
const MINUTE_MS = 60_000

test('ten thousand wait, and of more the oldest goes', () => {
  const join = new RequestJoiner(new FakeClock())
  for (let n = 0; n < 10_001; n += 1) join.set(`${n}`, opening(`/${n}`))
  expect(join.size).toBe(10_000)
  expect(join.get('0')).toBeUndefined()
  expect(join.get('1')?.path).toBe('/1')
  // One that begins anew is young again.
  join.set('1', opening('/again'))
  join.set('x', opening('/x'))
  expect([join.get('1')?.path, join.get('2'), join.size]).toEqual(['/again', undefined, 10_000])
})

test('for five minutes', async () => {
  const clock = new FakeClock()
  const join = new RequestJoiner(clock)
  join.set('a', opening('/a'))
  await clock.advance(3 * MINUTE_MS)
  join.set('b', opening('/b'))
  await clock.advance(2 * MINUTE_MS)
  expect(join.get('a')?.path).toBe('/a')
  await clock.advance(1)
  expect([join.get('a'), join.get('b')?.path, join.size]).toEqual([undefined, '/b', 1])
  expect(clock.timers).toBe(0)
})

test('long paths do not fill the memory', () => {
  const join = new RequestJoiner(new FakeClock())
  for (let n = 0; n < 1_000; n += 1) join.set(`${n}`, opening(`/${'x'.repeat(100_000)}`))
  expect(join.size).toBeLessThanOrEqual(42)
  expect(join.get('999')).toBeDefined()
  // One alone that is too much is not kept either.
  join.set('big', opening('x'.repeat(5_000_000)))
  expect(join.size).toBe(0)
  join.set('a', opening('/a'))
  join.delete('a')
  join.delete('a')
  expect(join.size).toBe(0)
  for (let n = 0; n < 10_000; n += 1) join.set(`${n}`, opening('/'))
  expect(join.size).toBe(10_000)
})
