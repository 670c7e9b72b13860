/**
 * The transport obeys a Retry-After. An invalid or excessive value neither stops the delivery nor causes extra
 * requests.
 */
import { describe, expect, onTestFinished, test } from 'vitest'
import { createHttp } from '../../../src/client/http.js'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import { createIngestSender } from '../../../src/delivery/ingest-sender.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import { httpServer } from '../../client/http-servers.js'
import { FakeClock } from '../../fake-clock.js'
import { batchOf, setup } from '../scripted-sender.js'

const HOUR = 3_600_000
const NOW = Date.UTC(2025, 0, 1)
const httpDate = (ms: number): string => new Date(ms).toUTCString()

/** The header's values and the wait in milliseconds; undefined if only the backoff applies. */
const CASES: readonly [header: string | string[], waitMs: number | undefined][] = [
  ['0', undefined],
  ['-5', undefined],
  ['soon', undefined],
  ['', undefined],
  ['5 seconds', undefined],
  ['0x10', undefined],
  [httpDate(NOW - 86_400_000), undefined],
  ['Thu, 01 Jan 1970 00:00:00 GMT', undefined],
  ['3', 3_000],
  ['3600', HOUR],
  ['1000000000', HOUR],
  ['99999999999', HOUR],
  ['9'.repeat(50), HOUR],
  [httpDate(NOW + 7_000), 7_000],
  [httpDate(NOW + 99 * 365 * 24 * HOUR), HOUR],
  [['5', '2'], 5_000],
  [['x', '4'], 4_000],
  [['0', '-5'], undefined],
]

describe('with a real server', () => {
  test.each(CASES)('%o', async (header, waitMs) => {
    let isUp = false
    const server = await httpServer((response) => {
      response.statusCode = isUp ? 200 : 503
      if (!isUp) response.setHeader('retry-after', header).setHeader('date', httpDate(NOW))
      response.end('{"accepted":1,"rejected":0,"errors":[]}')
    })
    const clock = new FakeClock(NOW)
    const http = createHttp({ url: `${server.origin}/api/v1`, apiKey: 'k', requestTimeoutMs: 5_000, maxConnections: 4 })
    onTestFinished(() => http.close())
    const closed: { waitMs: number; at: number }[] = []
    let hasFailed = (): void => {}
    const failed = (): Promise<void> =>
      new Promise((resolve) => {
        hasFailed = resolve
      })
    const breaker = new CircuitBreaker({
      clock,
      maxConcurrency: 4,
      retry: { minMs: 250, maxMs: 30_000 },
      random: () => 0.5,
      onFailure: (_, __, closedMs) => {
        closed.push({ waitMs: closedMs, at: clock.now() })
        hasFailed()
      },
    })
    const abort = new AbortController()
    let next = failed()
    const outcome = createRetrySender(createIngestSender({ http, clock }), breaker).send(batchOf('a'), abort.signal)
    for (let attempt = 1; attempt <= 4; attempt += 1) {
      await next
      expect(server.came).toHaveLength(attempt)
      const wait = closed[attempt - 1]?.waitMs ?? 0
      // Never early; the backoff or the jitter of at most 1 s may be added.
      expect(wait).toBeGreaterThanOrEqual(waitMs ?? 125 * 2 ** (attempt - 1))
      expect(wait).toBeLessThanOrEqual(Math.max((waitMs ?? 0) + 1_000, 5_000))
      await clock.advance(wait - 1)
      expect(server.came).toHaveLength(attempt)
      if (attempt === 4) isUp = true
      next = failed()
      await clock.advance(1)
    }
    expect(await outcome).toMatchObject({ kind: 'delivered' })
  })
})

describe('in the circuit breaker', () => {
  test.each([0, 1, 3_000, HOUR])(
    'of %i ms: makes no more attempts per hour than the backoff allows, and none early',
    async (retryAfterMs) => {
      const { clock, sender, enqueue } = setup(
        () => ({ kind: 'retryable', status: 429, reason: '429', retryAfterMs }),
        {
          maxConcurrency: 1,
        },
      )
      enqueue(batchOf('a'))
      await clock.advance(HOUR - 1)
      const times = sender.attempts.map(({ at }) => at)
      expect(times.every((at, index) => index === 0 || at - (times[index - 1] as number) >= retryAfterMs)).toBe(true)
      // In a long outage 15 s on average; the backoff takes at most 30 s to grow.
      expect(times.length).toBeLessThan(400)
      await clock.advance(2_000)
      expect(sender.attempts.length).toBeGreaterThan(1)
    },
  )
})
