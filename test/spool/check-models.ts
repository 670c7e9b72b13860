/** Runs sequences of steps, each starting with an empty folder. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { Model } from './model.js'
import { OWNER_SEQUENCES, formatOwnerSteps } from './owner-steps.js'
import { sequences as sequencesOf, formatSequence } from './model-steps.js'
import type { Sequence } from './model-steps.js'
import { watchSyncs } from './watch-syncs.js'
import { TwoOwners } from './two-owners.js'

export interface Checked {
  /** The difference and the steps before it; empty if there is none. */
  readonly failure: string
  readonly sequences: number
  readonly steps: number
}

/** Enough steps to find differences; on a real file system every step costs time for other sequences. */
const SHRINK_MS = 20_000

export interface Runs {
  readonly numRuns: number
  /** Seed of fast-check. Default: random. */
  readonly seed?: number
}

export interface CheckOptions extends Runs {
  readonly durability: Sequence['durability']
}

/** @param scratch an empty folder */
export async function checkSequences(scratch: string, { durability, ...runs }: CheckOptions): Promise<Checked> {
  const unwatch = watchSyncs()
  try {
    return await check(sequencesOf(durability), runs, formatSequence, (sequence) =>
      runSequence(join(scratch, 'root'), sequence),
    )
  } finally {
    unwatch()
  }
}

/** @param scratch an empty folder */
export async function checkTwoOwners(scratch: string, runs: Runs): Promise<Checked> {
  return check(OWNER_SEQUENCES, runs, formatOwnerSteps, async (steps) => {
    const model = new TwoOwners(join(scratch, 'root'))
    try {
      for (const step of steps) await model.step(step)
      await model.finish()
    } finally {
      model.end()
    }
    return steps.length
  })
}

/** @param run runs one sequence and returns its number of steps. Rejects if disk and model differ */
async function check<S>(
  arbitrary: fc.Arbitrary<S>,
  { numRuns, seed }: Runs,
  words: (sequence: S) => string,
  run: (sequence: S) => Promise<number>,
): Promise<Checked> {
  let sequences = 0
  let steps = 0
  let failedAt: number | undefined
  let smallest: S | undefined
  const property = fc.asyncProperty(arbitrary, async (sequence) => {
    if (failedAt !== undefined && performance.now() - failedAt > SHRINK_MS) return
    try {
      steps += await run(sequence)
      sequences += 1
    } catch (error) {
      failedAt ??= performance.now()
      smallest = sequence
      throw error
    }
  })
  const details = await fc.check(property, { numRuns, ...(seed !== undefined && { seed }) })
  const failure = details.failed
    ? `${String(details.errorInstance)}\nseed ${details.seed}, ${smallest && words(smallest)}`
    : ''
  return { failure, sequences, steps }
}

/** @throws at the first step after which disk and model differ (rejects) */
async function runSequence(root: string, sequence: Sequence): Promise<number> {
  rmSync(root, { recursive: true, force: true })
  const model = new Model(root, sequence)
  let isOver = false
  try {
    for (const step of sequence.steps) await model.step(step)
    await model.finish()
    isOver = true
  } finally {
    if (!isOver) model.abandon()
  }
  return sequence.steps.length
}
