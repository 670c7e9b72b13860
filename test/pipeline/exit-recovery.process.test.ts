/**
 * Recovered entries at exit: they are sent while the service is fast, and not so late that the reply would be missed.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/shared/clock.js'
import { resolveOptions } from '../../src/options/resolve-options.js'
import { Pipeline } from '../../src/pipeline/pipeline.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'

const KEY = 'exit-recovery-key'
const LEFT = 1_000

/** A service, and a spool folder in which another process left entries. */
async function leftBehind(): Promise<{
  service: IngestService
  exit: (shutdownTimeoutMs: number, lines?: number) => Promise<void>
}> {
  const dir = mkdtempSync(join(tmpdir(), 'pino-ingest-exit-'))
  const service = await createIngestService({ apiKeys: [KEY] })
  onTestFinished(async () => {
    await service.close()
    rmSync(dir, { recursive: true })
  })
  let n = 0
  const run = async (lines: number, shutdownTimeoutMs: number): Promise<void> => {
    const settings = resolveOptions(
      { url: service.url, apiKey: KEY, spool: { dir }, shutdownTimeoutMs, logTo: 'silent' },
      { env: {}, readFile: () => '' },
    )
    const pipeline = new Pipeline({ settings, clock: systemClock, emit: () => {} })
    for (let line = 0; line < lines; line += 1)
      pipeline.records.write(`${JSON.stringify({ level: 30, time: 0, msg: 'left', n: (n += 1) })}\n`)
    await pipeline.close()
  }
  const outage = service.faults.add({ kind: 'status', status: 503 })
  await run(LEFT, 10)
  outage()
  expect(service.arrived).toBe(0)
  return { service, exit: (shutdownTimeoutMs, lines = 1) => run(lines, shutdownTimeoutMs) }
}

function differentAt(service: IngestService): number {
  return new Set(service.entries({ limit: Infinity }).items.map(({ entry }) => entry.metadata?.['n'])).size
}

test('a slow service gets no request whose reply would be too late, so nothing arrives twice', async () => {
  const { service, exit } = await leftBehind()
  const slowly = service.faults.add({ kind: 'delay', delayMs: 500 })
  for (let run = 0; run < 3; run += 1) {
    await exit(1_300)
    await new Promise((resolve) => setTimeout(resolve, 700)) // a request sent without waiting for its reply would arrive now
  }
  expect(service.arrived).toBe(differentAt(service))
  slowly()
  while (service.arrived < LEFT) await exit(5_000)
  expect(service.arrived).toBe(differentAt(service))
})

test('a fast service gets all recovered entries from a process that logs one line', async () => {
  const { service, exit } = await leftBehind()
  await exit(5_000)
  expect({ arrived: service.arrived, different: differentAt(service) }).toEqual({
    arrived: LEFT + 1,
    different: LEFT + 1,
  })
})

test('a process that logs nothing and ends at once sends them, and ends when they are acknowledged', async () => {
  const { service, exit } = await leftBehind()
  await exit(8_000, 0)
  expect({ arrived: service.arrived, different: differentAt(service) }).toEqual({ arrived: LEFT, different: LEFT })
})
