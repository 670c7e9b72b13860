/** What the filters keep: their own few bytes, and not the chunks of lines that their texts are slices of. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { Deduplicator } from '../../src/filter/deduplicator.js'
import { findFingerprint } from '../../src/filter/entry-fingerprint.js'
import { FakeClock } from '../fake-clock.js'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void
const MIB = 1024 * 1024
const CHUNKS = 128

/** Memory that is held after `work`, in MiB. */
function held(work: () => void): number {
  collect()
  const before = process.memoryUsage()
  work()
  let least = Infinity
  // One collection may leave some, such as what a stack frame still names; what is held stays through all.
  for (let time = 0; time < 5; time += 1) {
    collect()
    const after = process.memoryUsage()
    least = Math.min(least, after.heapUsed + after.external - before.heapUsed - before.external)
  }
  return least / MIB
}

/** An entry that is a slice of a chunk of 1 MiB, as a line of the worker's is, with a fingerprint that is one, too. */
function sliceOfChunk(n: number): { entry: string; fingerprint: string } {
  const fingerprint = `fingerprint of the entry ${n}`
  const entry = `{"level":"error","message":"m","timestamp":"2025-01-01T00:00:00.000Z","error":{"type":"E${n}","message":"${'text '.repeat(20)}"},"fingerprint":"${fingerprint}"}`
  const chunk = Buffer.from(entry + '\n'.repeat(MIB)).toString()
  const at = chunk.indexOf(fingerprint)
  return { entry: chunk.slice(0, entry.length), fingerprint: chunk.slice(at, at + fingerprint.length) }
}

test('a slice holds its chunk, or these tests would show nothing', () => {
  const slices: string[] = []
  expect(
    held(() => {
      for (let n = 0; n < CHUNKS; n += 1) slices.push(sliceOfChunk(n).entry)
    }),
  ).toBeGreaterThan(CHUNKS - 8)
  expect(slices).toHaveLength(CHUNKS)
})

test('the windows hold no chunk, neither by a key nor by a repeat', () => {
  const dedupe = new Deduplicator({ windowMs: 60_000, clock: new FakeClock(), onSummary: () => {} })
  expect(
    held(() => {
      for (let n = 0; n < CHUNKS; n += 1) {
        const { entry, fingerprint } = sliceOfChunk(n)
        dedupe.isRepeat(fingerprint, 3, entry)
        dedupe.isRepeat(fingerprint, 3, entry)
      }
    }),
  ).toBeLessThan(8)
  expect(dedupe.keys).toBe(CHUNKS)
})

test('the windows hold no long fingerprint', () => {
  const dedupe = new Deduplicator({ windowMs: 60_000, clock: new FakeClock(), onSummary: () => {} })
  expect(
    held(() => {
      for (let n = 0; n < 1_000; n += 1) dedupe.isRepeat(String(n).padStart(80_000, 'f'), 3, '{}')
    }),
  ).toBeLessThan(8)
  expect(dedupe.keys).toBe(1_000)
})

test('known errors hold no chunk', () => {
  expect(
    held(() => {
      for (let n = 0; n < CHUNKS; n += 1) findFingerprint(sliceOfChunk(n).entry, '')
    }),
  ).toBeLessThan(8)
})

test('known errors are few', () => {
  const message = 'x'.repeat(15_000)
  expect(
    held(() => {
      for (let n = 0; n < 3_000; n += 1)
        findFingerprint(`{"level":"error","error":{"type":"T${n}","message":"${message}"}}`, '')
    }),
  ).toBeLessThan(16)
})
