/** Reports of failures of NATS. */
import { expect, test } from 'vitest'
import { QueueHealth } from '../../src/forward/queue-health.js'
import { FakeClock } from '../fake-clock.js'

function rig(): { readonly clock: FakeClock; readonly health: QueueHealth; readonly lines: string[] } {
  const clock = new FakeClock()
  const lines: string[] = []
  const health = new QueueHealth({
    clock,
    report: {
      problem: (code) => lines.push(code),
      note: (kind) => lines.push(kind),
      discard: () => false,
    },
  })
  return { clock, health, lines }
}

test('a short failure is not reported', async () => {
  const { clock, health, lines } = rig()
  health.failed('one', 'UNAVAILABLE', 'lost')
  expect(health.lastError).toContain('lost')
  await clock.advance(4_000)
  health.works('one')
  await clock.advance(60_000)
  expect(lines).toEqual([])
  expect(health.lastError).toBe(undefined)
})

test('a longer failure is reported once, and its end', async () => {
  const { clock, health, lines } = rig()
  for (let second = 0; second < 60; second += 1) {
    health.failed('one', 'UNAVAILABLE', `attempt ${second}`)
    await clock.advance(1_000)
  }
  expect(lines).toEqual(['UNAVAILABLE'])
  health.works('one')
  expect(lines).toEqual(['UNAVAILABLE', 'works one'])
})

test('a failure that a user has to correct is reported immediately, and again only if it changes', () => {
  const { health, lines } = rig()
  health.failed('one', 'UNAVAILABLE', 'lost')
  health.failed('one', 'AUTH', 'wrong', true)
  health.failed('one', 'AUTH', 'wrong', true)
  health.failed('one', 'UNAVAILABLE', 'lost')
  expect(lines).toEqual(['AUTH'])
  expect(health.lastError).toContain('wrong')
  health.failed('two', 'MISDIRECTED', 'missing', true)
  expect(lines).toEqual(['AUTH', 'MISDIRECTED'])
})

test.each([true, false])('a failure ends a minute after its last repetition (lasting: %s)', async (isLasting) => {
  const { health, lines, clock } = rig()
  for (let n = 0; n < 3; n += 1) {
    health.failed('one', 'AUTH', 'refused', isLasting)
    await clock.advance(50_000)
  }
  expect(lines).toEqual(['AUTH'])
  expect(health.lastError).toContain('refused')
  await clock.advance(10_000)
  expect(health.lastError).toBe(undefined)
  health.failed('one', 'AUTH', 'refused', true)
  expect(lines).toEqual(['AUTH', 'AUTH'])
})

test('lastError is the failure that a user has to correct, not its consequences', () => {
  const { health } = rig()
  health.failed('one', 'UNAVAILABLE', 'no answer')
  health.failed('two', 'MISDIRECTED', 'missing', true)
  expect(health.lastError).toContain('missing')
})
