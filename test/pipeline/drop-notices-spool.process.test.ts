/** Drops during a disk write are reported to the service while the batcher is still writing. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/shared/clock.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { Pipeline } from '../../src/pipeline/pipeline.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'

const KEY = 'notice-spool-key'
const MIB = 1024 * 1024

interface Full {
  readonly service: IngestService
  readonly pipeline: Pipeline
  /** Chunks after which the account did not balance. */
  readonly open: readonly number[]
}

/** Everything is written in one tick, so nothing is sent meanwhile, until a few chunks after the first drop. */
async function fillDisk(batchSize: number): Promise<Full> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-notice-'))
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(async () => {
    await service.close()
    rmSync(dir, { recursive: true })
  })
  const settings = resolveOptions(
    {
      url: service.url,
      apiKey: KEY,
      batch: { size: batchSize },
      spool: { dir, maxBytes: MIB },
      maxBufferBytes: MIB,
      shutdownTimeoutMs: 8_000,
      logTo: 'silent',
    },
    { env: {}, readFile: () => '' },
  )
  const pipeline = new Pipeline({ settings, clock: systemClock, emit: () => {} })
  const open: number[] = []
  let after = 0
  // Several chunks per batch, so a batch is written to disk only when it is sealed.
  const chunk = `${JSON.stringify({ level: 50, time: 0, msg: 'x'.repeat(4_000) })}\n`.repeat(7)
  for (let n = 0; after < 3; n += 1) {
    pipeline.records.write(chunk)
    const { dropped, balances } = pipeline.account.snapshot()
    if (!balances) open.push(n)
    if (dropped.spool > 0) after += 1
    if (n > 1_000) throw new Error('the disk was never full')
  }
  return { service, pipeline, open }
}

/**
 * The dropped count in each notice, oldest first: one for the drops before the first notice is in flight, and at most
 * one for the rest.
 */
function reportedAt(service: IngestService): number[] {
  const notices = service
    .entries({ limit: Infinity })
    .items.filter(({ entry }) => entry.message.startsWith('pino-ingest dropped'))
  return notices.map(
    ({ entry }) => (entry.metadata as { pino_ingest: { dropped: { spool: number } } }).pino_ingest.dropped.spool,
  )
}

function expectAllTold(service: IngestService, pipeline: Pipeline): void {
  const reported = reportedAt(service)
  const { dropped, ...rest } = pipeline.account.snapshot()
  expect(reported.reduce((sum, one) => sum + one, 0)).toBe(dropped.spool)
  expect(reported.length).toBeLessThanOrEqual(2)
  expect(rest).toMatchObject({ generated: reported.length, pending: 0, balances: true })
}

test.each([1, 10])('batches of %i: the account always balances, and a flush sends the notice', async (batchSize) => {
  const { service, pipeline, open } = await fillDisk(batchSize)
  expect(open).toEqual([])
  while ((await pipeline.flush()) !== 'acknowledged');
  expectAllTold(service, pipeline)
  await pipeline.close()
  expect(service.arrived).toBe(pipeline.account.accepted)
})

test('the end of the process sends the notice', async () => {
  const { service, pipeline } = await fillDisk(10)
  await pipeline.close()
  expectAllTold(service, pipeline)
  expect(service.arrived).toBe(pipeline.account.accepted)
})
