/** Runs sequences of steps, each from an empty folder to its end. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { Model } from './model.js'
import { sequences as sequencesOf, wordsOf } from './steps.js'
import type { Sequence } from './steps.js'
import { watchSyncs } from './synced.js'

export interface Checked {
  /** What went wrong, and after which steps; empty where nothing did. */
  readonly failure: string
  readonly sequences: number
  readonly steps: number
}

/** Enough to see what matters; on a real file system each costs a sequence. */
const SHRINK_MS = 20_000

export interface CheckOptions {
  readonly durability: Sequence['durability']
  readonly numRuns: number
  /** Of fast-check; by default another each time. */
  readonly seed?: number
}

/** Sequences in `npm test`, half of them for each durability; more with MODEL_RUNS. */
export const RUNS_EACH = Math.ceil(Number(process.env['MODEL_RUNS'] ?? 10_000) / 2)

/** @param scratch a folder of the test's own */
export async function checkSequences(scratch: string, { durability, numRuns, seed }: CheckOptions): Promise<Checked> {
  let sequences = 0
  let steps = 0
  let failedAt: number | undefined
  let smallest: Sequence | undefined
  const unwatch = watchSyncs()
  const property = fc.asyncProperty(sequencesOf(durability), async (sequence) => {
    if (failedAt !== undefined && performance.now() - failedAt > SHRINK_MS) return
    try {
      await runSequence(join(scratch, 'root'), sequence)
    } catch (error) {
      failedAt ??= performance.now()
      smallest = sequence
      throw error
    }
    sequences += 1
    steps += sequence.steps.length
  })
  try {
    const details = await fc.check(property, { numRuns, ...(seed !== undefined && { seed }) })
    const failure = details.failed ? `${String(details.errorInstance)}\nseed ${details.seed}, ${smallest && wordsOf(smallest)}` : ''
    return { failure, sequences, steps }
  } finally {
    unwatch()
  }
}

/** @throws at the first step after which disk and model differ (rejects) */
async function runSequence(root: string, sequence: Sequence): Promise<void> {
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
}
