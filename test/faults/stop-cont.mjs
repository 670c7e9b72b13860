/**
 * A process is suspended for longer than a lease, as by a closed laptop or a debugger. Another process of its PID namespace does not
 * claim its folder, and after the suspension it delivers all its records once.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { range } from './stage.mjs'

/** @type {import('./scenarios.mjs').Scenario['run']} */
async function runStopped(stage, { perSecond, beforeMs, stopMs, afterMs }) {
  const { server } = stage
  await server.up()
  await server.down()
  const count = ((beforeMs + afterMs) * perSecond) / 1000
  const stopped = stage.start({ count, perSecond, awaitReady: true, end: 'natural' })
  await stopped.event('started')
  await sleep(beforeMs)
  stopped.kill('SIGSTOP')
  const other = stage.start({ first: count, count: 1, end: 'hold' })
  await other.event('logged')
  await server.up()
  await sleep(stopMs)
  const adopted = server.stored.size - 1
  const inMemory = stopped.loggedAt() + 1
  stopped.kill('SIGCONT')
  // It catches up immediately, since its rate is relative to its start.
  await stopped.done
  const all = range(0, count + 1)
  await sleep(1_000)
  other.kill('SIGTERM')
  await other.done
  if (stage.lost(all).length > 0) await stage.nextStart(all)
  const wrong = adopted > 0 ? [`${adopted} records of a stopped process were sent by another of its PID namespace`] : []
  return stage.outcome({
    expected: all.length,
    lost: stage.lost(all).length,
    wrong,
    notes: [`${adopted} of ${inMemory} delivered by another process while this one was stopped`],
  })
}

/** @type {import('./scenarios.mjs').Scenario} */
export const STOPPED = {
  key: 'stopped',
  name: 'a suspension past its lease',
  run: runStopped,
  size: { perSecond: 500, beforeMs: 2_000, stopMs: 40_000, afterMs: 2_000 },
}
