/** kill -9 at 5,000 entries a second: acknowledged entries are still stored after a restart. */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request as httpRequest } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createIngestService } from '../../src/service/index.js'
import type { IngestServiceOptions } from '../../src/service/index.js'
import { startChild } from './service-child.js'
import { entryOf, until } from './support.js'

/** Batches without a reply. */
const MAX_OPEN = 10
const BATCH = 100
const PER_SECOND = 5000
const ROUNDS = 2

interface Writer {
  /** Messages of the batches that were acknowledged with 200, in order. */
  readonly acknowledged: readonly string[]
  readonly sent: () => number
  readonly stop: () => void
}

/** Sends one batch every 20 ms, and catches up when a timer is late, with a limit: replies arrive in another order than batches are stored. */
function write(url: string, pad: string): Writer {
  const agent = new Agent({ keepAlive: true })
  const acknowledged: string[] = []
  const begun = performance.now()
  let batches = 0
  let open = 0
  const send = (): void => {
    const messages = Array.from({ length: BATCH }, (_, n) => `${batches}-${n}`)
    batches++
    open++
    const body = JSON.stringify({
      batch_id: String(batches),
      logs: messages.map((message) => entryOf({ message, metadata: { pad } })),
    })
    const headers = { 'content-type': 'application/json', 'x-api-key': 'any' }
    const request = httpRequest(`${url}/ingest`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('error', () => {
        // The kill. Only the status acknowledges a batch.
      })
      if (response.statusCode === 200) acknowledged.push(...messages)
    })
    request.on('error', () => {
      // The kill: a batch without a reply was not acknowledged.
    })
    request.on('close', () => open--)
    request.end(body)
  }
  const timer = setInterval(() => {
    while (open < MAX_OPEN && batches * BATCH < ((performance.now() - begun) / 1000) * PER_SECOND) send()
  }, 5)
  return {
    acknowledged,
    sent: () => batches * BATCH,
    stop: () => {
      clearInterval(timer)
      agent.destroy()
    },
  }
}

/** Kills and restarts the service several times. @param mustBeThere selects the acknowledged messages that must still be stored */
async function killAndLook(
  options: IngestServiceOptions,
  pad: string,
  mustBeThere: (acknowledged: readonly string[]) => readonly string[],
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-kill-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const problems: string[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const dbFile = join(folder, `db-${round}`)
    const service = await startChild({ ...options, dbFile })
    const writer = write(service.url, pad)
    const enough = randomInt(2000, 8000)
    await until(() => writer.acknowledged.length >= enough, 20_000)
    await service.kill()
    writer.stop()
    const wanted = mustBeThere([...writer.acknowledged])
    expect(wanted.length).toBeGreaterThan(1000)

    const again = await createIngestService({ ...options, dbFile, onProblem: (problem) => problems.push(problem) })
    const kept = again.entries({ limit: Infinity }).items.map(({ entry }) => entry.message)
    await again.close()
    const found = new Set(kept)
    expect(
      wanted.filter((message) => !found.has(message)),
      `round ${round}, killed after ${writer.acknowledged.length}`,
    ).toEqual([])
    expect(found.size, 'no entry twice').toBe(kept.length)
    expect(kept.length).toBeLessThanOrEqual(writer.sent())
  }
  // The kill can leave one incomplete line per file. No other problem is expected.
  expect(problems.filter((problem) => !problem.endsWith(': 1 damaged line(s) were skipped'))).toEqual([])
}

const all = (acknowledged: readonly string[]): readonly string[] => acknowledged

describe('kill -9 at 5,000 entries a second', () => {
  it('every acknowledged entry is stored', () => killAndLook({}, '', all), 120_000)

  it('every acknowledged entry is stored while the journal is rewritten repeatedly', async () => {
    // A small limit makes the service rewrite the file several times a second.
    await killAndLook({ maxEntries: 2500 }, 'x'.repeat(2000), (acknowledged) =>
      acknowledged.slice(-(2500 - MAX_OPEN * BATCH)),
    )
  }, 120_000)
})
