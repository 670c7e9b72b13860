/** Injects faults one after the other while the applications log. */
import { setTimeout as sleep } from 'node:timers/promises'
import { say } from './report.mjs'

const STREAM = 'PINO_INGEST'
const POLL_MS = 100
const OUTAGE_MS = 10_000
/** Limit for the election and the recovery of forwarders and applications. */
const RECOVERY_TIMEOUT_MS = 60_000

/** Each fault starts when this share of the entries has arrived, or on a slow machine after this time. */
const LEADER = { share: 0.1, afterMs: 10_000 }
const FORWARDER = { share: 0.45, afterMs: 20_000 }
const SERVICE = { share: 0.6, afterMs: 10_000 }

export async function runFaults({ servers, service, queue, forwarders, startForwarder, entries }) {
  const when = async ({ share, afterMs }) => {
    const endsAt = performance.now() + afterMs
    while ((await service.ask('arrived')) < share * entries && performance.now() < endsAt) await sleep(POLL_MS)
  }

  await when(LEADER)
  const leader = await servers.leaderOf(STREAM)
  await leader.kill()
  queue.longestPauseMs() // restarts the measurement
  say(`SIGKILL for ${leader.name}, which leads the queue.`)
  await queue.publishes(RECOVERY_TIMEOUT_MS)
  const next = await servers.leaderOf(STREAM)
  await leader.start()

  await when(FORWARDER)
  const pausedMs = queue.longestPauseMs()
  say(`  ${next.name} leads it; publishing paused for ${(pausedMs / 1000).toFixed(1)} s.`)
  const before = await service.ask('inFlight')
  await forwarders[0].kill()
  const after = await service.ask('inFlight')
  const killed = [...new Set([...before, ...after])].filter((id) => id !== null)
  say('SIGKILL for one forwarder; the other one continues.')

  await when(SERVICE)
  await service.ask('down')
  say(`The service is down for ${OUTAGE_MS / 1000} s.`)
  await sleep(OUTAGE_MS)
  const backlog = queue.waiting()
  await service.ask('up')
  forwarders.push(startForwarder())
  say(`  It is up again with ${backlog} batches in the queue; a forwarder replaces the killed one.`)
  return { killed, pausedMs }
}
