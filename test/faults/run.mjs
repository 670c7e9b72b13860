/** Runs one scenario for one transport. */
import { Stage } from './stage.mjs'

/**
 * @param {import('./scenarios.mjs').Scenario} scenario
 * @param {import('./peers.mjs').Subject} subject
 * @param {'full' | 'quick'} size
 * @param {object} [more] replaces parts of the size
 */
export async function run(scenario, subject, size, more = {}) {
  const stage = new Stage(subject, size)
  try {
    return await scenario.run(stage, { ...scenario[size], ...more })
  } finally {
    await stage.close()
  }
}
