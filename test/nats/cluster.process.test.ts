/** A fleet while nodes of its cluster fail: nothing is lost or duplicated. `test/fleet` has the long runs. */
import { describe, expect, test } from 'vitest'
import { run } from '../fleet/run.mjs'
import { SCENARIOS } from '../fleet/scenarios.mjs'
import { SKIPS_NATS } from './nats-servers.js'

const QUICK = ['leader', 'all', 'deleted']
const PER_SECOND = 100

describe.skipIf(SKIPS_NATS).concurrent('a fleet continues when', () => {
  const scenarios = SCENARIOS.filter(({ key }) => QUICK.includes(key))
  test.each(scenarios.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    { timeout: 120_000 },
    async (_name, scenario) => {
      // While other tests run, an election may take longer.
      const outcome = await run(
        { ...scenario, ...(scenario.seconds !== 0 && { seconds: 20 }), maxPauseMs: 60_000 },
        { perSecond: PER_SECOND },
      )
      expect(outcome).toMatchObject({ lost: 0, duplicated: 0, wrong: [] })
      expect(outcome.expected).toBeGreaterThan(0)
    },
  )
})
