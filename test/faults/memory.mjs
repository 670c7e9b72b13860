/** While more is logged than the service accepts, the main thread's memory stays constant and no log call blocks. */

const MIB = 1024 * 1024

/** @type {import('./scenarios.mjs').Scenario['run']} */
async function runMemory(stage, { mib, recordBytes, mostMib, longestMs }) {
  const { server } = stage
  await server.up()
  server.behavior = { kind: 'hang' }
  const count = Math.ceil((mib * MIB) / recordBytes)
  const app = stage.start({ count, padBytes: recordBytes, awaitReady: true, watchHeap: true, end: 'natural' })
  const { code } = await app.done
  const { heapGrowthBytes = 0, heapPeakBytes = 0, longestCallMs = 0 } = app.last('exit')?.payload ?? {}
  const logged = app.last('logged')?.payload
  const grownMib = heapGrowthBytes / MIB
  // Records above the spool's limit are dropped and counted, which is not measured here.
  const account = app.last('ingest:stats')?.payload
  const wrong = [
    ...(code === 0 && logged !== undefined ? [] : [`the application ended with ${code}`]),
    ...(account === undefined ? ['no account was reported'] : []),
    ...(grownMib > mostMib ? [`the main thread's memory grew by ${Math.round(grownMib)} MiB`] : []),
    ...(longestCallMs > longestMs ? [`a log call took ${Math.round(longestCallMs)} ms`] : []),
  ]
  return stage.outcome({
    expected: count,
    lost: 0,
    wrong,
    notes: [
      `${mib} MiB in ${((logged?.tookMs ?? 0) / 1000).toFixed(1)} s`,
      `main thread: ${grownMib.toFixed(1)} MiB live more than at the start, ${(heapPeakBytes / MIB).toFixed(1)} MiB with garbage`,
      `longest log call ${longestCallMs.toFixed(1)} ms`,
    ],
  })
}

/** @type {import('./scenarios.mjs').Scenario} */
export const MEMORY = {
  key: 'memory',
  name: 'more is logged than the service accepts',
  run: runMemory,
  size: { mib: 150, recordBytes: 1_000, mostMib: 32, longestMs: 1_000 },
}
