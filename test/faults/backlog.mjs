/** A spool of 1 GiB at the start is streamed instead of loaded, and does not delay new records. */
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from './monotonic.mjs'
import { OURS, Stage, range } from './stage.mjs'

const MIB = 1024 * 1024
const GIB = 1024 * MIB

/** @param {import('./stage.mjs').Stage} stage */
const roomy = (stage) => ({ spool: { dir: stage.spoolDir, maxBytes: 4 * GIB } })

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
  const stage = new Stage(OURS, 'full')
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
  name: 'a backlog of 1 GiB at the start',
  mustBe: '0/0, within 32 MiB, live records within 5 s',
  run: runBacklog,
  isOursOnly: true,
  isAlone: true,
  full: { mib: 1_024, recordBytes: 4_000, latencyMs: 5, mostMib: 32, withinMs: 5_000, idleMs: 15_000 },
  // Three times the memory limit, which is enough to distinguish streaming from loading.
  quick: { mib: 24, recordBytes: 4_000, latencyMs: 5, mostMib: Infinity, withinMs: 5_000, idleMs: 8_000 },
}
