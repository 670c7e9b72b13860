/**
 * A process that is stopped past its lease, as a laptop's lid or a debugger does it: another one takes over what it left,
 * and the stopped one goes on as if nothing had been. What it had in memory may come twice, nothing may be missing.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { range } from './stage.mjs'

/** @type {import('./scenarios.mjs').Scenario['run']} */
async function runStopped(stage, { perSecond, beforeMs, stopMs, afterMs }) {
  const { server } = stage
  await server.up()
  await server.down()
  const count = (beforeMs + afterMs) * perSecond / 1000
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
  // It makes up for the pause at once: its pace is counted from its start.
  await stopped.done
  const all = range(0, count + 1)
  const lostAtExit = stage.lost(all).length
  await sleep(1_000)
  other.kill('SIGTERM')
  await other.done
  if (stage.lost(all).length > 0) await stage.nextStart(all)
  const wrong = adopted === 0 ? ['nothing was taken over while it was stopped'] : []
  return stage.outcome({
    expected: all.length, lostAtExit, lost: stage.lost(all).length, mayDuplicate: inMemory, wrong,
    notes: [`${adopted} of ${inMemory} delivered by another process while this one was stopped`],
  })
}

/** @type {import('./scenarios.mjs').Scenario} */
export const STOPPED = {
  key: 'stopped', name: 'stopped for 60 s, past its lease', mustBe: '0/at most what it had in memory', run: runStopped, isOursOnly: true,
  full: { perSecond: 1_000, beforeMs: 5_000, stopMs: 60_000, afterMs: 3_000 },
  // A lease takes its time: there is no quick size.
  quick: undefined,
}
