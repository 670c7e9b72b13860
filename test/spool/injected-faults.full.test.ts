/** Faults injected into the spool one at a time: the model must detect each of them. */
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { Segment } from '../../src/spool/segment/segment.js'
import { SegmentWriter } from '../../src/spool/segment/segment-writer.js'
import { WriteAheadLog } from '../../src/spool/write-ahead-log.js'
import { checkSequences } from './check-models.js'
import { removeScratch, scratchFolder } from './scratch.js'

const SEED = 20_250_101
const RUNS = 200
/** A difference that the model reports, not a TypeError. */
const DIFFERENCE = /^Error: ./

let scratch: string

beforeAll(() => {
  scratch = scratchFolder()
})

afterEach(() => void vi.restoreAllMocks())

afterAll(() => removeScratch(scratch))

/** The first line, which names the difference. */
async function failure(durability: 'process' | 'power' = 'process'): Promise<string> {
  const { failure: words } = await checkSequences(scratch, { durability, numRuns: RUNS, seed: SEED })
  return words.split('\n')[0] as string
}

test('a segment is deleted when only a part of it is settled', async () => {
  vi.spyOn(Segment.prototype, 'settled').mockImplementation(function settled(this: Segment) {
    this.drop()
  })
  expect(await failure()).toMatch(DIFFERENCE)
})

test('an acknowledgement before the reply', async () => {
  const { seal } = WriteAheadLog.prototype
  vi.spyOn(WriteAheadLog.prototype, 'seal').mockImplementation(function sealed(
    this: WriteAheadLog,
    batch: Batch,
  ): Batch | undefined {
    const kept = seal.call(this, batch)
    kept?.acknowledgement?.acknowledge()
    return kept
  })
  expect(await failure()).toMatch(DIFFERENCE)
})

test('the segment that is written to is not synchronized', async () => {
  vi.spyOn(SegmentWriter.prototype, 'syncSoon').mockImplementation(() => {})
  expect(await failure('power')).toMatch(/did not outlast a power failure/)
})
