/** Scenarios as tests, with real processes. */
import { expect, test } from 'vitest'
import { missed, run, SCENARIOS } from './scenarios.mjs'

/** One of 100 entries is rejected. */
const DEAD_LETTERED: Readonly<Record<string, number>> = {
  rejected: 20,
  nameless: 20,
  'none-accepted': 20,
  gateway: 0,
  'wrong-key': 0,
}

export function testScenarios(isWanted: (isQuick: boolean) => boolean): void {
  const wanted = SCENARIOS.filter(({ isQuick = false }) => isWanted(isQuick))
  test.concurrent.each(wanted.map((scenario) => [scenario.name, scenario] as const))(
    '%s: losses and duplicates within limits',
    { timeout: 120_000 },
    async (_name, scenario) => {
      const outcome = await run(scenario)
      expect(missed(scenario, outcome)).toEqual([])
      expect(outcome.expected).toBeGreaterThan(0)
      expect(outcome.deadLettered).toBe(DEAD_LETTERED[scenario.key])
    },
  )
}
