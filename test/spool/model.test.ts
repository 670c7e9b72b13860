import { afterAll, beforeAll, expect, test } from 'vitest'
import { RUNS_EACH, checkSequences } from './check-sequences.js'
import { removeScratch, scratchFolder } from './scratch.js'

let scratch: string

beforeAll(() => {
  scratch = scratchFolder()
})

afterAll(() => removeScratch(scratch))

test.each([
  ['process', 'whatever happens to a spool, nothing that it keeps is lost, sent twice or changed'],
  ['power', 'nor where the power fails: what was synchronised outlasts it'],
] as const)('durability %s: %s', { timeout: 3_600_000 }, async (durability, _promise) => {
  const startedAt = performance.now()
  const { failure, sequences, steps } = await checkSequences(scratch, { durability, numRuns: RUNS_EACH })
  process.stdout.write(`model, durability ${durability}: ${sequences} sequences, ${steps} steps, ${((performance.now() - startedAt) / 1000).toFixed(1)} s\n`)
  expect(failure).toBe('')
  expect(sequences).toBe(RUNS_EACH)
})
