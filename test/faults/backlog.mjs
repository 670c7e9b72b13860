/** A large spool at the start is streamed instead of loaded, and does not delay new records. */
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from './monotonic.mjs'
import { Stage, range } from './stage.mjs'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** @param {import('./stage.mjs').Stage} stage */
const roomy = (stage) => ({ spool: { dir: stage.spoolDir, maxBytes: GIB } })

/** @type {import('./scenarios.mjs').Scenario['run']} */
async function runBacklog(stage, { mib, recordBytes, latencyMs, mostMib, withinMs, idleMs }) {
  const { server } = stage
  const count = Math.ceil((mib * MIB) / recordBytes)
  await server.up()
  await server.down()
  const writer = stage.start({ count, padBytes: recordBytes, awaitReady: true, end: 'natural' }, roomy(stage))
  await writer.done
  server.behavior = { kind: 'ok', latencyMs }
  await server.up()

  const live = count
  const app = stage.start({ first: live, count: 1, awaitReady: true, end: 'hold' }, roomy(stage))
  const loggedAt = (await app.event('logged'))?.at ?? Infinity
  const startedAt = Date.now()
  const all = range(0, count + 1)
  let seen = -1
  while (seen !== server.entriesSeen && server.stored.size < all.length) {
    seen = server.entriesSeen
    await until(() => server.stored.size >= all.length, idleMs)
  }
  const tookS = (Date.now() - startedAt) / 1000
  await sleep(500)
  app.kill('SIGTERM')
  await app.done

  const reference = await referencePeakMib(latencyMs)
  const peakMib = app.peakRssKb / 1024
  const ackMs = (server.first.get(live)?.at ?? Infinity) - loggedAt
  const wrong = [
    ...(peakMib - reference > mostMib ? [`${Math.round(peakMib - reference)} MiB more than without a backlog`] : []),
    ...(ackMs > withinMs ? [`the live record was stored after ${Math.round(ackMs)} ms`] : []),
  ]
  return stage.outcome({
    expected: all.length,
    lost: stage.lost(all).length,
    wrong,
    notes: [
      `${mib} MiB delivered in ${tookS.toFixed(1)} s`,
      `peak ${Math.round(peakMib)} MiB, without a backlog ${Math.round(reference)} MiB`,
      `the live record was stored after ${Math.round(ackMs)} ms`,
    ],
  })
}

/** Memory of the same application without a backlog. @param {number} latencyMs */
async function referencePeakMib(latencyMs) {
  const stage = new Stage()
  try {
    stage.server.behavior = { kind: 'ok', latencyMs }
    await stage.server.up()
    const app = stage.start({ count: 1, awaitReady: true, end: 'hold' }, roomy(stage))
    await until(() => stage.server.stored.size === 1, 10_000)
    await sleep(2_000)
    app.kill('SIGTERM')
    await app.done
    return app.peakRssKb / 1024
  } finally {
    await stage.close()
  }
}

/** @type {import('./scenarios.mjs').Scenario} */
export const BACKLOG = {
  key: 'backlog',
  name: 'a large backlog at the start',
  run: runBacklog,
  size: { mib: 192, recordBytes: 4_000, latencyMs: 5, mostMib: 32, withinMs: 10_000, idleMs: 15_000 },
}
