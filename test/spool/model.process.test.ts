import { afterAll, beforeAll, expect, test } from 'vitest'
import { RUNS_EACH, RUNS_OF_TWO, checkSequences, checkTwoOwners } from './check-models.js'
import type { Checked } from './check-models.js'
import type { OwnerStep } from './owner-steps.js'
import { removeScratch, scratchFolder } from './scratch.js'
import { TwoOwners } from './two-owners.js'

/** Seed of fast-check, to repeat a run. */
const SEED = process.env['MODEL_SEED'] === undefined ? {} : { seed: Number(process.env['MODEL_SEED']) }
let scratch: string

beforeAll(() => {
  scratch = scratchFolder()
})

afterAll(() => removeScratch(scratch))

async function holds(name: string, numRuns: number, check: () => Promise<Checked>): Promise<void> {
  const startedAt = performance.now()
  const { failure, sequences, steps } = await check()
  process.stdout.write(
    `model, ${name}: ${sequences} sequences, ${steps} steps, ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`,
  )
  expect(failure).toBe('')
  expect(sequences).toBe(numRuns)
}

test.each([
  ['process', 'loses, duplicates and changes no stored entry'],
  ['power', 'keeps synchronized entries in a power failure'],
] as const)('durability %s: %s', { timeout: 3_600_000 }, (durability, _promise) =>
  holds(`durability ${durability}`, RUNS_EACH, () =>
    checkSequences(scratch, { durability, numRuns: RUNS_EACH, ...SEED }),
  ),
)

test(
  'two owners with any clocks, PID namespaces and disk faults: entries on disk arrive once, and an id has one content',
  { timeout: 3_600_000 },
  () => holds('two owners', RUNS_OF_TWO, () => checkTwoOwners(scratch, { numRuns: RUNS_OF_TWO, ...SEED })),
)

test('a recovered batch that is sent without file descriptors is not sent again', async () => {
  const kinds = ['append', 'close', 'recover', 'fault', 'recover', 'send'] as const
  const model = new TwoOwners(scratch)
  try {
    // The fault is that of `chooseFault(3)`: no descriptors.
    for (const kind of kinds) await model.step({ kind, who: 0, a: kind === 'fault' ? 3 : 4, b: 0 } satisfies OwnerStep)
    await model.finish()
  } finally {
    model.end()
  }
})
