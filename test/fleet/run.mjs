/** Runs one scenario on its own fleet, and checks the outcome. */
import { nowMs } from '../faults/monotonic.mjs'
import { Fleet } from './fleet.mjs'

const APPLICATIONS = 3
/** Number of forwarders whose output is shown on a failure. */
const SHOWN = 10

/**
 * @param {import('./scenarios.mjs').Scenario} scenario
 * @param {Partial<import('./scenarios.mjs').RunOptions> & { perSecond?: number }} [options] `perSecond`: entries of each application
 */
export async function run(scenario, { minutes = 10, seed = 1, perSecond = 500 } = {}) {
  const { nodes = 3, seconds = 20, mayDuplicate = false, maxPauseMs = Infinity } = scenario
  const fleet = await Fleet.start(nodes)
  try {
    fleet.startForwarder()
    fleet.startForwarder()
    const count = seconds * perSecond
    const logging = Array.from({ length: count === 0 ? 0 : APPLICATIONS }, (_, index) =>
      fleet.logged(fleet.startApp({ first: index * count, count, perSecond }), index * count),
    )
    const [told] = await Promise.all([scenario.run(fleet, { minutes, seed }), ...logging])
    const endedAt = nowMs()
    await fleet.settle()
    const outcome = await fleet.outcome(endedAt)
    const { deadLettered, duplicated, longestPauseMs } = outcome
    const wrong = [
      ...outcome.wrong,
      ...(deadLettered === 0 ? [] : [`${deadLettered} dead letters`]),
      ...(mayDuplicate || duplicated === 0 ? [] : [`${duplicated} entries came twice`]),
      ...(longestPauseMs <= maxPauseMs ? [] : [`publishing paused for ${longestPauseMs} ms`]),
    ]
    const said =
      wrong.length === 0
        ? []
        : fleet.forwarders.map(({ name, output }) => `${name}: ${output.slice(-1_000)}`).slice(-SHOWN)
    return { ...outcome, wrong, notes: [...(told?.notes ?? []), ...said] }
  } finally {
    await fleet.close()
  }
}
