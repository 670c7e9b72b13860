/** The transport obeys a Retry-After: none of its requests is early, and an excessive value does not stop it for long. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHttp } from '../../src/client/http.js'
import { createIngestSender } from '../../src/delivery/ingest-sender.js'
import { ApiKey } from '../../src/options/api-key.js'
import { KeyPause } from '../../src/shared/key-pause.js'
import { httpServer } from '../client/http-servers.js'
import { FakeClock } from '../fake-clock.js'
import { batchOf, busyFor, DOWN, many, OK, seeded, setup, setupReal } from './setup.js'

const HOUR = 3_600_000
const NOW = Date.UTC(2025, 0, 1)
const httpDate = (ms: number): string => new Date(ms).toUTCString()

/** The header's values and the wait in milliseconds; undefined if only the backoff applies. */
const CASES: readonly [header: string | string[], waitMs: number | undefined][] = [
  ['0', undefined],
  ['soon', undefined],
  [httpDate(NOW - 86_400_000), undefined],
  ['3600', HOUR],
  ['1000000000', HOUR],
  [httpDate(NOW + 7_000), 7_000],
  [httpDate(NOW + 99 * 365 * 24 * HOUR), HOUR],
  [['5', '2'], 5_000],
]

test.each(CASES)('of a real server: %o', async (header, waitMs) => {
  let isUp = false
  const server = await httpServer((response) => {
    response.statusCode = isUp ? 200 : 503
    if (!isUp) response.setHeader('retry-after', header).setHeader('date', httpDate(NOW))
    response.end('{"accepted":1,"rejected":0,"errors":[]}')
  })
  const clock = new FakeClock(NOW)
  const http = createHttp({
    url: `${server.origin}/api/v1`,
    apiKey: new ApiKey('k'),
    requestTimeoutMs: 5_000,
    maxConnections: 4,
  })
  onTestFinished(() => http.close())
  const one = setupReal(createIngestSender({ http, clock }), {
    clock,
    retry: { maxMs: 30_000 },
    random: () => 0.5,
  })
  const waits: number[] = []
  let hasFailed = (): void => {}
  one.events.on((event) => {
    if (event.kind === 'paused') waits.push(event.delayMs)
    else if (event.kind === 'failed') waits.push(event.health.probeAt - clock.now())
    else return
    hasFailed()
  })
  const failed = (): Promise<void> => new Promise((resolve) => (hasFailed = resolve))
  let next = failed()
  one.scheduler.enqueue(batchOf('a'))
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await next
    expect(server.came).toHaveLength(attempt)
    const wait = waits[attempt - 1] ?? 0
    // Never early; the backoff or the jitter of at most 1 s may be added.
    expect(wait).toBeGreaterThanOrEqual(waitMs ?? 125 * 2 ** (attempt - 1))
    expect(wait).toBeLessThanOrEqual(Math.max((waitMs ?? 0) + 1_000, 5_000))
    await clock.advance(wait - 1)
    expect(server.came).toHaveLength(attempt)
    if (attempt === 3) isUp = true
    next = failed()
    await clock.advance(2)
  }
  await one.scheduler.flush()
  expect(one.account.accepted).toBe(1)
})

test.each([1_000, 3_000, HOUR])('of %i ms, always: no request is early, and few are made', async (retryAfterMs) => {
  const one = setup(() => ({ kind: 'retryable', status: 429, reason: '429', retryAfterMs }))
  one.enqueue(...many(5))
  await one.clock.advance(3 * HOUR)
  const times = one.requests.map(({ at }) => at)
  expect(times.every((at, index) => index === 0 || at - (times[index - 1] as number) >= retryAfterMs)).toBe(true)
  expect(one.requests.length).toBeGreaterThan(2)
})

describe('one pause for everything that is sent with a key', () => {
  function two() {
    const clock = new FakeClock()
    const pause = new KeyPause(clock, () => 0)
    const first = setup(({ number }) => (number === 1 ? busyFor(20) : OK), { clock, pause })
    const second = setup(() => OK, { clock, pause })
    return { clock, first, second }
  }

  test('a Retry-After to one endpoint holds the other', async () => {
    const { clock, first, second } = two()
    first.enqueue(batchOf('a'))
    await clock.advance(1_000)
    second.enqueue(batchOf('b'))
    await clock.advance(19_000)
    expect(second.requests).toHaveLength(0)
    expect(second.scheduler.lastFailure).toContain('Retry-After')
    await clock.advance(100)
    expect([first.account.accepted, second.account.accepted]).toEqual([1, 1])
    expect(second.scheduler.lastFailure).toBeUndefined()
  })

  test('it changes nothing else: the requests continue at the former rate, without a ramp-up', async () => {
    const { clock, first, second } = two()
    second.enqueue(...many(50))
    await clock.advance(2_000)
    first.enqueue(batchOf('a'))
    await clock.advance(100)
    second.enqueue(...many(50))
    await clock.advance(20_200)
    expect(second.account.accepted).toBe(100)
  })
})

test('a failure and a Retry-After: both are waited for', async () => {
  const one = setup(({ number }) => (number === 1 ? DOWN : number === 2 ? busyFor(5) : OK), { random: seeded(1) })
  one.enqueue(batchOf('a'))
  await one.clock.advance(1_000)
  expect(one.requests).toHaveLength(2)
  await one.clock.advance(4_000)
  expect(one.requests).toHaveLength(2)
  await one.clock.advance(2_000)
  expect(one.account.accepted).toBe(1)
})
