import { describe, expect, it } from 'vitest'
import { backgroundClock } from '../../../src/shared/clock.js'
import { call, durationMs, entryOf, ingest, started, until } from '../support.js'

describe('rate limit', () => {
  it('replies with 429 and Retry-After, counts all keyed endpoints together, and ends with the window', async () => {
    let nowMs = 0
    const clock = { ...backgroundClock, now: () => nowMs }
    const service = await started({ rateLimit: { requests: 2, windowMs: 2500 }, clock })
    await ingest(service, [entryOf()])
    await call(`${service.url}/feedback`, { body: { event_id: 'e', comments: 'c' } })
    nowMs = 100
    const { status, headers } = await ingest(service, [entryOf()])
    expect([status, headers['retry-after']]).toEqual([429, '3'])
    expect((await call(`${service.url}/heartbeat/t`)).status).toBe(200)
    nowMs = 2500
    expect((await ingest(service, [entryOf()])).status).toBe(200)
    expect(service.counts().total).toBe(2)
  })
})

describe('recorded requests', () => {
  it('record content, reply and number of open requests', async () => {
    const service = await started({ latencyMs: 60 })
    await Promise.all([ingest(service, [entryOf(), entryOf()], 'a'), ingest(service, [entryOf()], 'b')])
    expect(service.requests).toMatchObject([
      { endpoint: 'ingest', method: 'POST', keyed: true, status: 200, fault: null, concurrent: 1 },
      { endpoint: 'ingest', method: 'POST', keyed: true, status: 200, fault: null, concurrent: 2 },
    ])
    expect(service.requests.map(({ batchId, entries, accepted }) => [batchId, entries, accepted]).toSorted()).toEqual([
      ['a', 2, 2],
      ['b', 1, 1],
    ])
    await until(() => service.requests.every(({ endedAt }) => endedAt !== null))
    for (const one of service.requests) expect(durationMs(one)).toBeGreaterThan(50)
    await ingest(service, [], 'c')
    expect(service.requests.at(-1)?.concurrent).toBe(1)
  })

  it('are limited to the newest', async () => {
    const service = await started({ maxRecordedRequests: 3 })
    for (let i = 0; i < 10; i++) await ingest(service, [], `b${i}`)
    expect(service.requests.map(({ batchId }) => batchId)).toEqual(['b7', 'b8', 'b9'])
  })
})
