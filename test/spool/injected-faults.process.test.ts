/** Faults injected into the spool one at a time: the model must detect each of them. */
import { cpSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { Batch } from '../../src/batch/batch.js'
import { Segment } from '../../src/spool/segment/segment.js'
import { SegmentWriter } from '../../src/spool/segment/segment-writer.js'
import { WriteAheadLog } from '../../src/spool/write-ahead-log.js'
import { checkSequences } from './check-models.js'
import { replaceCalls, system } from './disk-faults.js'
import { removeScratch, scratchFolder } from './scratch.js'

type FrameModule = typeof import('../../src/spool/segment/frame.js')

const SEED = 20_250_101
const RUNS = 200
/** Rotation, a suspension and a power failure rarely occur together. */
const MANY_RUNS = 3_000
/** A difference that the model reports, not a TypeError. */
const DIFFERENCE = /^Error: ./
const frames = vi.hoisted((): Partial<FrameModule> => ({}))

vi.mock('../../src/spool/segment/frame.js', async (original) => {
  const real = await original<FrameModule>()
  const writeFrame: FrameModule['writeFrame'] = (...given) => (frames.writeFrame ?? real.writeFrame)(...given)
  const readFrame: FrameModule['readFrame'] = (...given) => (frames.readFrame ?? real.readFrame)(...given)
  return { ...real, writeFrame, readFrame }
})

let scratch: string
let real: FrameModule

beforeAll(async () => {
  scratch = scratchFolder()
  real = await vi.importActual<FrameModule>('../../src/spool/segment/frame.js')
})

afterEach(() => {
  vi.restoreAllMocks()
  delete frames.writeFrame
  delete frames.readFrame
})

afterAll(() => removeScratch(scratch))

/** The first line, which names the difference. */
async function failure(durability: 'process' | 'power' = 'process', numRuns = RUNS): Promise<string> {
  const { failure: words } = await checkSequences(scratch, { durability, numRuns, seed: SEED })
  return words.split('\n')[0] as string
}

test('without a fault the same sequences pass', async () => {
  expect(await failure()).toBe('')
})

test('a segment is deleted when only a part of it is settled', async () => {
  vi.spyOn(Segment.prototype, 'settled').mockImplementation(function settled(this: Segment) {
    this.drop()
  })
  expect(await failure()).toMatch(DIFFERENCE)
})

test('checksums are not checked', async () => {
  const { crc32 } = process.getBuiltinModule('node:zlib')
  frames.readFrame = (bytes, at) => {
    if (at + real.HEADER_BYTES > bytes.length) return real.readFrame(bytes, at)
    const end = at + real.HEADER_BYTES + bytes.readUInt32LE(at + 8)
    if (end > bytes.length) return real.readFrame(bytes, at)
    const forged = Buffer.from(bytes)
    forged.writeUInt32LE(crc32(bytes.subarray(at + 8, end)), at + 4)
    return real.readFrame(forged, at)
  }
  expect(await failure()).toMatch(DIFFERENCE)
})

test('a claim copies the folder and leaves the original to the next process', async () => {
  const { renameSync } = system
  const restore = replaceCalls({
    renameSync: (from: string, to: string) => {
      if (/\.(live|left)$/.test(from) && to.includes('.live/')) cpSync(from, to, { recursive: true })
      else renameSync(from, to)
    },
  })
  try {
    expect(await failure()).toMatch(DIFFERENCE)
  } finally {
    restore()
  }
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

test('no seals', async () => {
  frames.writeFrame = (into, at, frame) => (frame.kind === 'seal' ? at : real.writeFrame(into, at, frame))
  expect(await failure()).toMatch(DIFFERENCE)
})

test('the boundary between two batches is lost: one id for both', async () => {
  let first: Uint8Array | undefined
  frames.writeFrame = (into, at, frame) => {
    const id = first ?? frame.id
    if (frame.kind !== 'seal') return real.writeFrame(into, at, { ...frame, id })
    first = first === undefined ? Uint8Array.from(frame.id) : undefined
    return first === undefined ? real.writeFrame(into, at, { ...frame, id }) : at
  }
  expect(await failure()).toMatch(DIFFERENCE)
})

test('the segment that is written to is not synchronized', async () => {
  vi.spyOn(SegmentWriter.prototype, 'syncSoon').mockImplementation(() => {})
  expect(await failure('power')).toMatch(/did not outlast a power failure/)
})

test('a segment that is full is not synchronized', async () => {
  vi.spyOn(SegmentWriter.prototype, 'end').mockImplementation(function closed(this: SegmentWriter) {
    this.close()
  })
  expect(await failure('power', MANY_RUNS)).toMatch(/did not outlast a power failure/)
}, 60_000)
