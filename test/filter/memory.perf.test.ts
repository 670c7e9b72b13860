/** The filters retain a few bytes of their own, not the chunks of lines from which their strings are sliced. */
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

/** Memory retained after `work`, in MiB. */
function held(work: () => void): number {
  collect()
  const before = process.memoryUsage()
  work()
  let least = Infinity
  // One collection may leave some garbage, such as references of a stack frame; the minimum of several is retained
  // memory.
  for (let time = 0; time < 5; time += 1) {
    collect()
    const after = process.memoryUsage()
    least = Math.min(least, after.heapUsed + after.external - before.heapUsed - before.external)
  }
  return least / MIB
}

/** An entry sliced from a chunk of 1 MiB, like a line in the worker, with a fingerprint that is a slice, too. */
function sliceOfChunk(n: number): { entry: string; fingerprint: string } {
  const fingerprint = `fingerprint of the entry ${n}`
  const entry = `{"level":"error","message":"m","timestamp":"2025-01-01T00:00:00.000Z","error":{"type":"E${n}","message":"${'text '.repeat(20)}"},"fingerprint":"${fingerprint}"}`
  const chunk = Buffer.from(entry + '\n'.repeat(MIB)).toString()
  const at = chunk.indexOf(fingerprint)
  return { entry: chunk.slice(0, entry.length), fingerprint: chunk.slice(at, at + fingerprint.length) }
}

test('a slice retains its chunk (precondition of these tests)', () => {
  const slices: string[] = []
  expect(
    held(() => {
      for (let n = 0; n < CHUNKS; n += 1) slices.push(sliceOfChunk(n).entry)
    }),
  ).toBeGreaterThan(CHUNKS - 8)
  expect(slices).toHaveLength(CHUNKS)
})

test('the windows retain no chunk, by key or by repeat', () => {
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

test('known errors retain no chunk', () => {
  expect(
    held(() => {
      for (let n = 0; n < CHUNKS; n += 1) findFingerprint(sliceOfChunk(n).entry, '')
    }),
  ).toBeLessThan(8)
})

test('the number of known errors is limited', () => {
  const message = 'x'.repeat(15_000)
  expect(
    held(() => {
      for (let n = 0; n < 3_000; n += 1)
        findFingerprint(`{"level":"error","error":{"type":"T${n}","message":"${message}"}}`, '')
    }),
  ).toBeLessThan(16)
})
