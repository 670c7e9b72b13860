/** Linear time by comparison, in CPU time of this process: a busy machine does not change the ratio. */
import { expect } from 'vitest'

const TIMES = 16
/** Between 16 times (linear) and 256 times (quadratic). */
const MOST_TIMES = 64
/** A shorter time cannot be measured reliably. */
const SHORT_MS = 2
/** The collector's threads count as CPU time: a single run may take several times as long as the shortest of some. */
const MOST_RUNS = 12

function cpuMs(work: () => unknown): number {
  const began = process.cpuUsage().user
  work()
  return (process.cpuUsage().user - began) / 1_000
}

/** @param prepare makes the work for a size; its own time does not count */
export function expectLinearTime(size: number, prepare: (size: number) => () => unknown): void {
  const [few, many] = [prepare(size / TIMES), prepare(size)]
  few()
  let times = Infinity
  // Both are measured in each run, because another process on the same core may halve the speed of one of them.
  for (let runs = 0; times >= MOST_TIMES && runs < MOST_RUNS; runs += 1) {
    const fewMs = Math.max(Math.min(cpuMs(few), cpuMs(few), cpuMs(few)), SHORT_MS)
    times = Math.min(times, cpuMs(many) / fewMs)
  }
  expect(times).toBeLessThan(MOST_TIMES)
}
