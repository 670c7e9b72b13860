/** The state of the service: each row of the table in `src/delivery/README.md`. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isFailing, nextRequestAt, step, UNPROVEN } from '../../src/delivery/health.js'
import type { Health, HealthEvent } from '../../src/delivery/health.js'

const ACCEPTED: HealthEvent = { kind: 'accepted', isCaughtUp: false }
const CAUGHT_UP: HealthEvent = { kind: 'accepted', isCaughtUp: true }
const REFUSED: HealthEvent = { kind: 'refused', reason: '403', startedAt: 0, isRepeated: false }
const OUTAGE: HealthEvent = { kind: 'unavailable', reason: '503', startedAt: 0, isOutage: true }
const SINGLE: HealthEvent = { ...OUTAGE, isOutage: false }

/** Applies the events, one a second. */
function after(events: readonly HealthEvent[], from: Health = UNPROVEN, random = 0.5): Health {
  let now = 0
  return events.reduce((health, event) => {
    now += 1_000
    return step(health, event, { now, random: () => random, retry: { maxMs: 30_000 } })
  }, from)
}

const kindOf = (...events: HealthEvent[]): string => after(events).kind
const times = (count: number, event: HealthEvent): HealthEvent[] => Array.from({ length: count }, () => event)
const USUAL = times(20, ACCEPTED)

describe.each<[string, HealthEvent[], accepted: string, refused: string, outage: string, single: string]>([
  ['unproven', [], 'working', 'denied', 'down', 'down'],
  ['working', [ACCEPTED], 'working', 'denied', 'down', 'working'],
  ['down', [OUTAGE], 'working', 'denied', 'down', 'down'],
  ['down, after a known rate', [...USUAL, OUTAGE], 'recovering', 'denied', 'down', 'down'],
  ['denied', [REFUSED], 'working', 'denied', 'down', 'down'],
  ['recovering', [...USUAL, OUTAGE, ACCEPTED], 'recovering', 'denied', 'down', 'recovering'],
])('%s', (_, before, accepted, refused, outage, single) => {
  test.each([
    ['accepted', ACCEPTED, accepted],
    ['refused', REFUSED, refused],
    ['unavailable', OUTAGE, outage],
    ['unavailable, while others are accepted', SINGLE, single],
  ])('%s', (__, event, expected) => expect(kindOf(...before, event)).toBe(expected))
})

test('more than half of the latest 32 replies are failures: down', () => {
  expect(kindOf(ACCEPTED, ...times(16, SINGLE))).toBe('working')
  expect(kindOf(ACCEPTED, ...times(17, SINGLE))).toBe('down')
  expect(kindOf(ACCEPTED, ...times(100, SINGLE).flatMap((one) => [one, ACCEPTED, ACCEPTED]))).toBe('working')
})

test('probes of a service that refuses follow after 0, 1, 2 and 4 s, then every 60 s', () => {
  const waits = [1, 2, 3, 4, 5, 6].map((count) => nextRequestAt(after(times(count, REFUSED))) - count * 1_000)
  expect(waits).toEqual([0, 1_000, 2_000, 4_000, 60_000, 60_000])
  // An entry that was refused alone before shows nothing new.
  expect(nextRequestAt(after([REFUSED, ...times(9, { ...REFUSED, isRepeated: true })]))).toBe(10_000)
})

test('the backoff doubles up to a quarter of the age, at least 5 s, at most retry.maxMs', () => {
  let health = UNPROVEN
  for (let now = 0; now < 600_000; now = nextRequestAt(health)) {
    health = step(health, OUTAGE, { now, random: () => 0.999, retry: { maxMs: 30_000 } })
    const failures = health.kind === 'down' ? health.failures : 0
    expect(nextRequestAt(health) - now).toBeLessThanOrEqual(
      Math.min(250 * 2 ** (failures - 1), Math.max(5_000, now / 4), 30_000),
    )
  }
})

test('after an outage the rate is limited to 1.7 times the usual one for 1.5 times its length, then doubles', () => {
  const health = after([...USUAL, OUTAGE, ...times(60, OUTAGE), ACCEPTED])
  if (health.kind !== 'recovering') throw new Error(health.kind)
  expect(health.perMs * 1_000).toBeGreaterThan(1.6)
  expect(health.perMs * 1_000).toBeLessThan(2.1)
  expect(health.until - 82_000).toBeCloseTo(1.5 * 82_000, -4)
  expect(after([CAUGHT_UP], health).kind).toBe('working')
  expect(after([{ kind: 'ending' }], health).kind).toBe('working')
  // The rate of before is known after the next outage, too.
  expect(after([CAUGHT_UP, OUTAGE, ACCEPTED], health).kind).toBe('recovering')
})

test('a flush brings the next probe forward, and never puts it off', () => {
  for (const events of [[OUTAGE], times(6, REFUSED)]) {
    const health = after(events)
    const at = nextRequestAt(after([{ kind: 'hurried', withinMs: 250 }], health))
    expect(at).toBe(Math.min(nextRequestAt(health), 1_250))
  }
})

test('any events: only an acceptance ends a failure, and the next request is never more than a minute away', () => {
  const event = fc.constantFrom<HealthEvent>(
    ACCEPTED,
    REFUSED,
    OUTAGE,
    SINGLE,
    { kind: 'sent' },
    CAUGHT_UP,
    { kind: 'hurried', withinMs: 250 },
    { kind: 'ending' },
  )
  fc.assert(
    fc.property(
      fc.array(fc.tuple(event, fc.integer({ min: 0, max: 100_000 })), { maxLength: 100 }),
      fc.float({ min: 0, max: Math.fround(0.99), noNaN: true }),
      (events, random) => {
        let [health, now] = [UNPROVEN, 0]
        for (const [one, ms] of events) {
          now += ms
          const next = step(health, one, { now, random: () => random, retry: { maxMs: 30_000 } })
          expect(isFailing(health) && !isFailing(next) && one.kind !== 'accepted').toBe(false)
          expect(nextRequestAt(next)).toBeLessThanOrEqual(now + 60_000)
          health = next
        }
      },
    ),
  )
})
