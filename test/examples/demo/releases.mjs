/** The releases of the shop: yesterday's and today's. All entries have the id of today's. */
import { registerRelease } from 'pino-ingest'

export const VERSION = '2.7.0'
const PREVIOUS = '2.6.0'

export async function registerReleases(logger) {
  const common = { branch: 'main', deployed_by: 'Grace' }
  await registerRelease({ ...common, version: PREVIOUS, commit_hash: '8f2c1d7', changelog: 'Gift cards' })
  await registerRelease({
    ...common,
    version: VERSION,
    commit_hash: 'b41e09a',
    changelog: 'Shipping offers of several carriers\nLabels',
    logger,
  })
}
