/** One run of one scenario, for one transport. */
import { Stage } from './stage.mjs'

/**
 * @param {import('./scenarios.mjs').Scenario} scenario
 * @param {import('./peers.mjs').Subject} subject
 * @param {'full' | 'quick'} size
 */
export async function run(scenario, subject, size) {
  const stage = new Stage(subject, size)
  try {
    return await scenario.run(stage, scenario[size])
  } finally {
    await stage.close()
  }
}
