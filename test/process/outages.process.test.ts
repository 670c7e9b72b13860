/** Outages with 12,000 records each: none is lost, and no request is sent before its Retry-After. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { RecordedRequest, IngestService } from '../../src/service/index.js'
import { startApp } from './run-app.js'
import type { AppResult } from './run-app.js'
import { lastingPort } from '../reusable-port.mjs'

const COUNT = 12_000
const PER_SECOND = 800
const KEY = 'outages-key-51c2'

interface Tally {
  readonly lost: number
  readonly duplicated: number
}

/** Keyed by the number in each record. */
function tally(services: readonly IngestService[]): Tally {
  const times = new Map<unknown, number>()
  for (const service of services) {
    for (const { entry } of service.entries({ limit: Infinity }).items) {
      const n = entry.metadata?.['n']
      times.set(n, (times.get(n) ?? 0) + 1)
    }
  }
  const copies = [...times.values()].reduce((sum, count) => sum + count, 0)
  return { lost: COUNT - times.size, duplicated: copies - times.size }
}

/**
 * Requests that started within `waitMs` after a rejection was answered, minus `graceMs`: with several in flight, one
 * may be sent while the rejection of another is in transit.
 */
function sentTooEarly(calls: readonly RecordedRequest[], waitMs: number, graceMs: number): readonly RecordedRequest[] {
  const refusals = calls.filter(({ status }) => status === 503 || status === 429)
  return calls.filter(({ at }) =>
    refusals.some(({ endedAt }) => endedAt !== null && at > endedAt + graceMs && at < endedAt + waitMs),
  )
}

function logging(url: string, options: object = {}): { done: Promise<AppResult> } {
  return startApp({
    mode: 'target',
    options: { url, apiKey: KEY, shutdownTimeoutMs: 8_000, ...options },
    count: COUNT,
    perSecond: PER_SECOND,
  })
}

function report(name: string, result: AppResult, { lost, duplicated }: Tally, more = ''): void {
  const loggedMs = result.events.find((event) => event.name === 'logged')?.payload as number
  const exitMs = result.tookMs - loggedMs
  process.stdout.write(
    `${name}: ${COUNT} logged in ${(loggedMs / 1000).toFixed(1)} s, exit ${(exitMs / 1000).toFixed(1)} s later, ` +
      `lost ${lost}, duplicated ${duplicated}${more}\n`,
  )
}

function expectUnharmed(result: AppResult): void {
  expect(result.code).toBe(0)
  expect(
    result.events.filter(({ name }) => name === 'error' || name === 'blocked' || name === 'ingest:dropped'),
  ).toEqual([])
  // The account always balances. The last report is never received: at exit the main thread no longer reads events.
  const stats = result.events
    .filter(({ name }) => name === 'ingest:stats')
    .map(({ payload }) => payload as { balances: boolean })
  expect(stats.length).toBeGreaterThan(3)
  expect(stats.every(({ balances }) => balances)).toBe(true)
}

describe.concurrent('12,000 records through', () => {
  // One request at a time needs no grace period: every later request was sent after the rejection.
  test.each([
    [503, 1, 0],
    [429, 32, 1_000],
  ])('%i with Retry-After 2 for 6 s, %i in flight', { timeout: 60_000 }, async (status, maxConcurrency, graceMs) => {
    const service = await createIngestService({ apiKeys: [KEY] })
    const app = logging(service.url, { maxConcurrency })
    await service.waitForEntries(500, { timeoutMs: 20_000 })
    service.faults.add({ kind: 'status', status, retryAfter: 2, forMs: 6_000 })
    const result = await app.done
    const counted = tally([service])
    const refused = service.requests.filter((call) => call.status === status).length
    const early = sentTooEarly(service.requests, 2_000, graceMs)
    report(`${status} with Retry-After`, result, counted, `, ${refused} requests refused, ${early.length} early`)
    expect(refused).toBeGreaterThan(1)
    expect(early).toEqual([])
    expect(counted).toEqual({ lost: 0, duplicated: 0 })
    expectUnharmed(result)
    await service.close()
  })

  test('down for 10 s', { timeout: 60_000 }, async () => {
    const before = await createIngestService({ apiKeys: [KEY], port: await lastingPort() })
    const app = logging(before.url)
    await before.waitForEntries(500, { timeoutMs: 20_000 })
    await before.close()
    await sleep(10_000)
    const after = await createIngestService({ apiKeys: [KEY], port: before.port })
    const result = await app.done
    const counted = tally([before, after])
    report('down for 10 s', result, counted)
    expect(counted.lost).toBe(0)
    // Entries stored while their reply was lost are sent again under the same batch_id, and nothing else is.
    const known = new Set(before.requests.map((call) => call.batchId))
    const again = after.requests.filter((call) => call.status === 200 && known.has(call.batchId))
    expect(counted.duplicated).toBeLessThanOrEqual(again.reduce((sum, call) => sum + (call.entries ?? 0), 0))
    expectUnharmed(result)
    await after.close()
  })

  test('a hang', { timeout: 60_000 }, async () => {
    const service = await createIngestService({ apiKeys: [KEY] })
    service.faults.add({ kind: 'hang', forMs: 4_000 })
    // Pending requests end after 10 s; the application runs for 15 s.
    const result = await logging(service.url).done
    const counted = tally([service])
    report('hang', result, counted)
    expect(counted).toEqual({ lost: 0, duplicated: 0 })
    expectUnharmed(result)
    await service.close()
  })
})
