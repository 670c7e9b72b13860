/** Notifications of stored records, and `maxAgeMs`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { IngestService, IngestServiceOptions } from '../../src/service/index.js'
import { FakeClock } from '../fake-clock.js'
import { call, entryOf, ingest, local, requestLog, started } from './support.js'

async function sendOneOfEach({ url }: IngestService): Promise<void> {
  await call(`${url}/ingest`, {
    body: { batch_id: 'b', logs: [entryOf({ message: 'a' }), { ...entryOf(), level: 'loud' }] },
  })
  await call(`${url}/ingest/requests`, { body: { requests: [requestLog, requestLog] } })
  await call(`${url}/feedback`, { body: { event_id: 'e', comments: 'c' } })
  await call(`${url}/releases/register`, { body: { version: '1' } })
  await call(`${url}/heartbeat/t`)
}

describe('onRecords', () => {
  it('is called with records of every kind', async () => {
    const reported: unknown[] = []
    const service = await started({
      onRecords: (kind, records) => reported.push([kind, ...records.map(({ id }) => id)]),
    })
    await sendOneOfEach(service)
    const ids = (path: string): Promise<string[]> =>
      local(service, path).then(({ json }) => json.items.map(({ id }: { id: string }) => id).toReversed())
    expect(reported).toEqual([
      ['entry', ...(await ids('entries'))],
      ['rejected', ...(await ids('rejected'))],
      ['request', ...(await ids('request-logs'))],
      ['feedback', ...(await ids('feedback'))],
      ['release', ...(await ids('releases'))],
      ['heartbeat', ...(await ids('heartbeats'))],
    ])
  })

  it('is not called if nothing was stored', async () => {
    const reported: string[] = []
    const service = await started({ dedupeBatches: true, onRecords: (kind) => reported.push(kind) })
    await ingest(service, [entryOf()])
    await ingest(service, [entryOf()])
    await ingest(service, [], 'empty')
    await call(`${service.url}/feedback`, { body: 'not JSON' })
    expect(reported).toEqual(['entry'])
  })
})

describe('maxAgeMs', () => {
  const HOUR = 3_600_000

  async function startAged(clock: FakeClock, more: IngestServiceOptions): Promise<IngestService> {
    return started({ ...more, clock })
  }

  async function kept(service: IngestService): Promise<unknown> {
    return (await local(service, 'status')).json.stored
  }

  const NONE = { entry: 0, request: 0, feedback: 0, release: 0, heartbeat: 0, rejected: 0 }
  const ONE_OF_EACH = { entry: 1, request: 2, feedback: 1, release: 1, heartbeat: 1, rejected: 1 }

  it('deletes records of every kind within a minute', async () => {
    const clock = new FakeClock()
    const service = await startAged(clock, { maxAgeMs: HOUR })
    await sendOneOfEach(service)
    await clock.advance(HOUR - 1)
    expect(await kept(service)).toEqual(ONE_OF_EACH)
    // The timer deletes every minute.
    await clock.advance(60_001)
    expect(await kept(service)).toEqual(NONE)
  })

  it('applies to existing records in the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ingest-age-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const dbFile = join(folder, 'db')
    const clock = new FakeClock()
    const first = await startAged(clock, { dbFile })
    await ingest(first, [entryOf()])
    await first.close()
    await clock.advance(2 * HOUR)
    const second = await startAged(clock, { dbFile, maxAgeMs: HOUR })
    expect(await kept(second)).toEqual(NONE)
    await second.close()
    expect(clock.timers).toBe(0)
  })
})
