/** Drops are reported to the service with one entry for many drops. */
import { expect, test, vi } from 'vitest'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { Pipeline } from '../../src/pipeline/pipeline.js'
import { DropNotices } from '../../src/pipeline/drop-notices.js'
import { createIngestService, validateEntry } from '../../src/service/index.js'
import { FakeClock } from '../fake-clock.js'

const LABELS = { service: 'shop', environment: 'production', version: '1.2.3' }

test('reaches the service once for many drops, and the account balances with it', async () => {
  const service = await createIngestService({ apiKeys: ['notice-key'] })
  const clock = new FakeClock()
  const settings = resolveOptions(
    { url: service.url, apiKey: 'notice-key', spool: false, maxBufferBytes: 1024 * 1024, logTo: 'silent' },
    { env: {}, readFile: () => '' },
  )
  const fault = service.faults.add({ kind: 'status', status: 401 })
  let troubles = 0
  const pipeline = new Pipeline({
    settings,
    clock,
    emit: (name) => void (name === 'ingest:problem' && (troubles += 1)),
  })
  const line = `${JSON.stringify({ level: 40, time: 0, pad: 'x'.repeat(1000), msg: 'warned' })}\n`
  pipeline.records.write(line)
  await clock.advance(1_000)
  await vi.waitFor(() => expect(service.requests.some(({ status }) => status === 401)).toBe(true), { timeout: 30_000 })
  await vi.waitFor(() => expect(troubles).toBeGreaterThan(0), { timeout: 30_000 })
  for (let n = 1; n < 3_000; n += 1) pipeline.records.write(line)
  await clock.advance(11_000)
  const { dropped, generated, balances } = pipeline.account.snapshot()
  expect(dropped.buffer).toBeGreaterThan(1_000)
  // In an outage the notice itself would be dropped.
  expect({ generated, balances }).toEqual({ generated: 0, balances: true })
  fault()
  for (let turn = 0; pipeline.account.snapshot().pending > 0; turn += 1) {
    await clock.advance(60_000)
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(turn).toBeLessThan(2_000)
  }
  const { accepted, ...account } = pipeline.account.snapshot()
  expect(account).toMatchObject({ received: 3_000, generated: 1, pending: 0, balances: true })
  const notices = service
    .entries({ limit: Infinity })
    .items.filter(({ entry }) => entry.message.startsWith('pino-ingest dropped'))
  expect(notices.map(({ entry }) => entry.metadata)).toEqual([
    { pino_ingest: { dropped: { buffer: account.dropped.buffer } } },
  ])
  expect(service.arrived).toBe(accepted)
  await pipeline.close()
  await service.close()
})

interface Notice {
  readonly timestamp: string
  readonly metadata: { readonly pino_ingest: { readonly dropped: Record<string, number> } }
}

function noticesOf(isHeld = () => false) {
  const clock = new FakeClock()
  const startedAt = clock.now()
  const entries: Notice[] = []
  const reported: { at: number; count: number; timestamp: string }[] = []
  const notices = new DropNotices({ clock, settings: LABELS })
  notices.connect({
    batcher: { seal: () => {} },
    get isAccepting() {
      return !isHeld()
    },
    addGenerated: (json) => {
      const entry = JSON.parse(json) as Notice
      const count = Object.values(entry.metadata.pino_ingest.dropped).reduce((sum, one) => sum + one, 0)
      entries.push(entry)
      reported.push({ at: clock.now() - startedAt, count, timestamp: entry.timestamp })
    },
  })
  return { clock, entries, reported, notices }
}

test('a notice is a valid entry of level warn with the counts by reason', () => {
  const { entries, notices } = noticesOf()
  notices.add(3, 'buffer')
  notices.add(4, 'spool')
  notices.report()
  notices.add(1, 'age')
  notices.report()
  expect(validateEntry(entries[0])).toEqual([])
  expect(entries).toMatchObject([
    { level: 'warn', message: expect.stringContaining('7 entries'), timestamp: '2025-01-01T00:00:00.000Z', ...LABELS },
    { message: expect.stringContaining('1 entry') },
  ])
  expect(entries[0]?.metadata).toEqual({ pino_ingest: { dropped: { buffer: 3, spool: 4 } } })
})

test('continuing drops are all reported, every 10 s', async () => {
  const { clock, reported, notices } = noticesOf()
  for (let n = 0; n < 350; n += 1) {
    notices.add(1, 'buffer')
    notices.onAccepted()
    await clock.advance(100)
  }
  notices.report()
  expect(reported.map(({ at }) => at)).toEqual([0, 10_000, 20_000, 30_000, 35_000])
  expect(reported.reduce((sum, { count }) => sum + count, 0)).toBe(350)
})

test('drops within the window of another notice are reported with the next entry that is accepted after it', async () => {
  const { clock, reported, notices } = noticesOf()
  notices.add(1, 'buffer')
  notices.onAccepted()
  notices.add(2, 'buffer')
  await clock.advance(9_000)
  notices.onAccepted()
  await clock.advance(2_000)
  notices.onAccepted()
  expect(reported.map(({ at, count }) => ({ at, count }))).toEqual([
    { at: 0, count: 1 },
    { at: 11_000, count: 2 },
  ])
})

test('an outage is followed by one notice, with the time of the latest drop', async () => {
  const { clock, reported, notices } = noticesOf()
  for (let n = 0; n < 600; n += 1) {
    notices.add(1, 'spool')
    await clock.advance(100)
  }
  await clock.advance(3_540_000)
  expect(reported).toEqual([])
  notices.onAccepted()
  expect(reported).toEqual([{ at: 3_600_000, count: 600, timestamp: '2025-01-01T00:00:59.900Z' }])
})

test('a flush reports drops without a window, as soon as the service accepts entries', () => {
  let isHeld = true
  const { reported, notices } = noticesOf(() => isHeld)
  notices.add(1, 'spool')
  notices.report()
  notices.add(2, 'shutdown')
  notices.onAccepted()
  expect(reported).toEqual([])
  isHeld = false
  notices.onAccepted()
  notices.add(4, 'shutdown')
  notices.report()
  expect(reported.map(({ count }) => count)).toEqual([3, 4])
})
