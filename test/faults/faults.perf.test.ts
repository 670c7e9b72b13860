/** Memory while the service hangs, and while a large backlog is delivered. */
import { expect, test } from 'vitest'
import { BACKLOG } from './backlog.mjs'
import { MEMORY } from './memory.mjs'
import { missed, run } from './scenarios.mjs'

test.each([
  [MEMORY.name, MEMORY],
  [BACKLOG.name, BACKLOG],
])('%s', { timeout: 300_000 }, async (_name, scenario) => {
  expect(missed(scenario, await run(scenario))).toEqual([])
})
