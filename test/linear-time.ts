/** Linear time by comparison, in CPU time of this process: a busy machine does not change the ratio. */
import { expect } from 'vitest'

const TIMES = 16
/** Between 16 times (linear) and 256 times (quadratic). */
const MOST_TIMES = 64
/** A shorter time cannot be measured reliably. */
const SHORT_MS = 2

function leastMs(work: () => unknown): number {
  return (
    Math.min(
      ...Array.from({ length: 3 }, () => {
        const began = process.cpuUsage().user
        work()
        return process.cpuUsage().user - began
      }),
    ) / 1_000
  )
}

/** @param prepare makes the work for a size; its own time does not count */
export function expectLinearTime(size: number, prepare: (size: number) => () => unknown): void {
  const [few, many] = [prepare(size / TIMES), prepare(size)]
  few()
  expect(leastMs(many)).toBeLessThan(MOST_TIMES * Math.max(leastMs(few), SHORT_MS))
}
