/** Every fault at a small size with real processes. `main.mjs` has the long runs and the peers. */
import { describe, expect, test } from 'vitest'

interface Scenario {
  readonly key: string
  readonly name: string
  readonly quick?: object
}
interface Outcome {
  readonly expected: number
  readonly lostAtExit?: number
  readonly hasEndedBefore?: boolean
  readonly deadLettered?: number
}
interface Harness {
  readonly ALL: readonly Scenario[]
  readonly OURS: object
  readonly run: (scenario: Scenario, subject: object, size: 'quick') => Promise<Outcome>
  readonly missed: (scenario: Scenario, outcome: Outcome) => string[]
}

// Imported through a variable, since the harness is JavaScript without types.
const load = async (name: string): Promise<Partial<Harness>> =>
  (await import(new URL(name, import.meta.url).href)) as Partial<Harness>
const parts = await Promise.all(['all.mjs', 'run.mjs', 'scenarios.mjs', 'stage.mjs'].map(load))
const { ALL, OURS, run, missed } = Object.assign({}, ...parts.map((part) => ({ ...part }))) as Harness

/** Scenarios that wait for a lease or measure memory have no quick size. */
const QUICK = ALL.filter(({ quick }) => quick !== undefined)
/** Everything is delivered before the application ends, if that is after the outage. */
const DELIVERED = ['down', '503', '429']
/** One of 100 entries is rejected. */
const DEAD_LETTERED: Readonly<Record<string, number>> = {
  rejected: 40,
  nameless: 20,
  framework: 20,
  'none-accepted': 20,
  'rejected-200': 20,
  gateway: 0,
  'wrong-key': 0,
}

describe.concurrent('through', () => {
  test.each(QUICK.map((scenario) => [scenario.name, scenario] as const))(
    '%s',
    { timeout: 60_000 },
    async (_name, scenario) => {
      const outcome = await run(scenario, OURS, 'quick')
      // On a busy machine the application may end while the service is down, or time out. Then the next start delivers.
      const isDelivered = DELIVERED.includes(scenario.key) && outcome.hasEndedBefore === false
      expect(missed(scenario, isDelivered ? outcome : { ...outcome, lostAtExit: 0 })).toEqual([])
      expect(outcome.expected).toBeGreaterThan(0)
      expect(outcome.deadLettered).toBe(DEAD_LETTERED[scenario.key])
    },
  )
})
