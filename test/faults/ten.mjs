/** Ten processes on one spool root, half of them killed. The others deliver the entries of the killed ones once. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from './random.mjs'
import { range } from './stage.mjs'

/** Twelve processes share two processors, so a worker may have to wait. */
const MARGIN_MS = 250

/** @type {import('./scenarios.mjs').Scenario['run']} */
async function runTen(stage, { processes, count, perSecond, downMs, seed }) {
  const { server } = stage
  const random = seeded(seed)
  await server.up()
  await server.down()
  const apps = range(0, processes).map((index) =>
    stage.start({ first: index * count, count, perSecond, awaitReady: true, end: 'natural' }),
  )
  await Promise.all(apps.map((app) => app.event('started')))
  const doomed = apps.filter((_, index) => index % 2 === 1)
  /** @type {Map<import('./run-app.mjs').App, number>} */
  const kills = new Map()
  const killing = doomed.map(async (app) => {
    // Some are killed while the service is down, some while entries of others are being sent.
    await sleep(downMs * (0.4 + 0.9 * random()))
    kills.set(app, app.kill('SIGKILL'))
    await app.done
  })
  await sleep(downMs)
  await server.up()
  await Promise.all([...killing, ...apps.map(({ done }) => done)])
  const must = apps.flatMap((app, index) =>
    range(index * count, (kills.has(app) ? app.readAt((kills.get(app) ?? 0) - MARGIN_MS) : app.loggedAt()) + 1),
  )
  const lostAtExit = stage.lost(must).length
  await stage.nextStart(must)
  return stage.outcome({
    expected: must.length,
    lostAtExit,
    lost: stage.lost(must).length,
    mayDuplicate: server.inFlightAt(...kills.values()),
    notes: [`${doomed.length} of ${processes} killed`],
  })
}

/** @type {import('./scenarios.mjs').Scenario} */
export const TEN = {
  key: 'ten',
  name: 'ten processes on one spool, half killed',
  mustBe: '0/at most what was in flight',
  run: runTen,
  isOursOnly: true,
  full: { processes: 10, count: 2_000, perSecond: 500, downMs: 3_000, seed: 1 },
  // As long as `full`, because on a busy machine a process needs a second until it writes to disk.
  quick: { processes: 4, count: 2_000, perSecond: 500, downMs: 3_000, seed: 1 },
}
