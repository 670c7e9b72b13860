/** The tests of both models, with a number of random sequences. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkSequences, checkTwoOwners } from './check-models.js'
import type { Checked } from './check-models.js'
import { removeScratch, scratchFolder } from './scratch.js'

/** Seed of fast-check, to repeat a run. */
const SEED = process.env['MODEL_SEED'] === undefined ? {} : { seed: Number(process.env['MODEL_SEED']) }

async function holds(name: string, numRuns: number, check: () => Promise<Checked>): Promise<void> {
  const startedAt = performance.now()
  const { failure, sequences, steps } = await check()
  process.stdout.write(
    `model, ${name}: ${sequences} sequences, ${steps} steps, ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`,
  )
  expect(failure).toBe('')
  expect(sequences).toBe(numRuns)
}

/** @param runs number of sequences: half of them with one owner, half with two */
export function testModels(runs: number): void {
  let scratch: string
  beforeAll(() => {
    scratch = scratchFolder()
  })
  afterAll(() => removeScratch(scratch))

  test.each([
    ['process', 'loses, duplicates and changes no stored entry'],
    ['power', 'keeps synchronized entries in a power failure'],
  ] as const)('durability %s: %s', { timeout: 3_600_000 }, (durability, _promise) =>
    holds(`durability ${durability}`, Math.ceil(runs / 4), () =>
      checkSequences(scratch, { durability, numRuns: Math.ceil(runs / 4), ...SEED }),
    ),
  )

  test(
    'two owners with any clocks, PID namespaces and disk faults: entries on disk arrive once, and an id has one content',
    { timeout: 3_600_000 },
    () =>
      holds('two owners', Math.ceil(runs / 2), () =>
        checkTwoOwners(scratch, { numRuns: Math.ceil(runs / 2), ...SEED }),
      ),
  )
}
