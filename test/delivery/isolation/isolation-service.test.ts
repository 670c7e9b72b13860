/** All stages as the pipeline connects them, with the local service's faults. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { createHttp } from '../../../src/client/http.js'
import { systemClock } from '../../../src/shared/clock.js'
import { createGzipSender } from '../../../src/delivery/gzip-sender.js'
import { CircuitBreaker } from '../../../src/delivery/retry/circuit-breaker.js'
import { createIngestSender } from '../../../src/delivery/ingest-sender.js'
import { createIsolationSender } from '../../../src/delivery/isolation/isolation-sender.js'
import { createRetrySender } from '../../../src/delivery/retry/retry-sender.js'
import type { DeadLetter } from '../../../src/batch/batch.js'
import type { Outcome } from '../../../src/batch/outcome.js'
import { parseBatchEntries } from '../../../src/batch/sub-batch.js'
import { createIngestService } from '../../../src/service/index.js'
import { httpServer } from '../../client/http-servers.js'
import { FakeClock } from '../../fake-clock.js'
import { batchWith } from './bad-entries.js'

test.each(['result', 'framework', 'nameless'] as const)(
  'entries rejected in the form `%s` become dead letters, the others are accepted once',
  async (form) => {
    const service = await createIngestService({ apiKeys: ['k'] })
    const http = createHttp({ url: service.url, apiKey: 'k', requestTimeoutMs: 5_000, maxConnections: 8 })
    onTestFinished(async () => {
      await http.close()
      await service.close()
    })
    service.faults.add({ kind: 'reject-containing', text: 'poison', form })
    const breaker = new CircuitBreaker({ clock: systemClock, maxConcurrency: 4, retry: { minMs: 10, maxMs: 10 } })
    const letters: DeadLetter[] = []
    const inner = createGzipSender(createRetrySender(createIngestSender({ http, clock: systemClock }), breaker))
    const sender = createIsolationSender({ inner, breaker, deadLetter: (those) => void letters.push(...those) })
    const batch = batchWith(
      '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
      Array.from({ length: 100 }, (_, n) => ({
        level: 'info',
        message: n % 33 === 0 ? `poison ${n}` : `good ${n}`,
        timestamp: '2025-01-01T00:00:00.000Z',
      })),
    )
    const outcome = await sender.send(batch, new AbortController().signal)
    expect(outcome).toMatchObject({ kind: 'delivered', accepted: 96 })
    expect(letters.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([0, 33, 66, 99])
    expect(letters.every(({ reason }) => reason !== '')).toBe(true)
    const stored = service.entries({ limit: Infinity }).items.map(({ entry }) => entry.message)
    expect([stored.length, new Set(stored).size]).toEqual([96, 96])
    process.stdout.write(`${form}: ${service.requests.length} requests\n`)
  },
)

test('a page with status 200 during a search for bad entries: nothing counts as accepted, and the search continues afterwards', async () => {
  const clock = new FakeClock()
  const accepted: string[] = []
  const bodies: string[] = []
  const server = await httpServer((response, { body }) => {
    bodies.push(body)
    const entries = parseBatchEntries(Buffer.from(body))
    // The halves of the batch receive the page until the next probe is due.
    if (bodies.length > 1 && clock.now() < 60_000)
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>')
    if (entries.some((entry) => entry.includes('poison'))) return void response.writeHead(400).end()
    accepted.push(...entries)
    response.end(JSON.stringify({ accepted: entries.length, rejected: 0, message: '', errors: [] }))
  })
  const http = createHttp({ url: `${server.origin}/api/v1`, apiKey: 'k', requestTimeoutMs: 20_000, maxConnections: 8 })
  onTestFinished(() => http.close())
  const failures: { kind: string; status?: number }[] = []
  const breaker = new CircuitBreaker({
    clock,
    maxConcurrency: 4,
    retry: { minMs: 10, maxMs: 10 },
    onFailure: (failure) => void failures.push(failure),
  })
  const letters: DeadLetter[] = []
  const sender = createIsolationSender({
    inner: createRetrySender(createIngestSender({ http, clock }), breaker),
    breaker,
    deadLetter: (those) => void letters.push(...those),
  })
  const batch = batchWith(
    '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
    Array.from({ length: 8 }, (_, n) => ({
      level: 'info',
      message: n === 5 ? 'poison' : `good ${n}`,
      timestamp: '2025-01-01T00:00:00.000Z',
    })),
  )
  let outcome: Outcome | undefined
  void sender.send(batch, new AbortController().signal).then((one) => {
    outcome = one
  })
  await vi.waitFor(
    () => expect(failures).toContainEqual(expect.objectContaining({ kind: 'endpoint-rejected', status: 200 })),
    { timeout: 20_000 },
  )
  expect({ accepted, letters, outcome }).toEqual({ accepted: [], letters: [], outcome: undefined })
  await vi.waitFor(
    async () => {
      await clock.advance(10_000)
      expect(outcome).toMatchObject({ kind: 'delivered', accepted: 7, rejected: [{ index: 5 }] })
    },
    { timeout: 20_000 },
  )
  expect([accepted.length, new Set(accepted).size, letters.map(({ index }) => index)]).toEqual([7, 7, [5]])
})
