/** Runs one scenario on its own fleet, and checks the outcome. */
import { Fleet } from './fleet.mjs'

const APPLICATIONS = 3
/** Number of output lines of the forwarders that are shown on a failure. */
const SHOWN = 10

/**
 * @param {import('./scenarios.mjs').Scenario} scenario
 * @param {Partial<import('./scenarios.mjs').RunOptions> & { perSecond?: number }} [options] `perSecond`: entries of each application
 */
export async function run(scenario, { minutes = 10, seed = 1, perSecond = 500 } = {}) {
  const {
    nodes = 3,
    seconds = 20,
    isDead,
    mayDuplicate = false,
    maxPauseMs = Infinity,
    maxRedeliveryMs = Infinity,
  } = scenario
  const fleet = await Fleet.start({ nodes })
  try {
    fleet.startForwarder()
    fleet.startForwarder()
    const count = seconds * perSecond
    const logging = Array.from({ length: count === 0 ? 0 : APPLICATIONS }, (_, index) =>
      fleet.logged(fleet.startApp({ first: index * count, count, perSecond }), index * count),
    )
    const [told] = await Promise.all([scenario.run(fleet, { minutes, seed }), ...logging])
    await fleet.settle()
    const outcome = await fleet.outcome({ ...(isDead && { isDead }) })
    const dead = isDead === undefined ? 0 : [...fleet.expected].filter((n) => isDead(n)).length
    const wrong = [
      ...outcome.wrong,
      ...(told?.wrong ?? []),
      ...(outcome.deadLettered === dead ? [] : [`${outcome.deadLettered} dead letters, not ${dead}`]),
      ...(mayDuplicate || outcome.duplicated === 0 ? [] : [`${outcome.duplicated} entries came twice`]),
      ...(outcome.longestPauseMs <= maxPauseMs ? [] : [`publishing paused for ${outcome.longestPauseMs} ms`]),
      ...(outcome.longestRedeliveryMs <= maxRedeliveryMs
        ? []
        : [`a batch of a killed forwarder came again after ${outcome.longestRedeliveryMs} ms`]),
    ]
    const said =
      wrong.length === 0
        ? []
        : fleet.forwarders.map(({ name, said: text }) => `${name}: ${text.slice(-1_000)}`).slice(-SHOWN)
    const repaired = fleet.forwarders.flatMap(
      ({ said: text }) => text.match(/published \d+ messages of \S+ again/g) ?? [],
    )
    return { ...outcome, wrong, notes: [...(told?.notes ?? []), ...repaired, ...said] }
  } finally {
    await fleet.close()
  }
}
