/** Kills applications, single nodes, forwarders and the service at random for some minutes. */
import { setTimeout as sleep } from 'node:timers/promises'
import { seeded } from '../faults/random.mjs'

const SLOTS = 3
const PER_SECOND = 300
/** Range of record numbers of one slot; more than its processes log. */
const SLOT_RECORDS = 100_000_000
const GAP = 1_000
/** Records logged at least this long before a kill are on disk. */
const MARGIN_MS = 20
/** Until a server that was killed is up to date. */
const READY_MS = 60_000
const MAX_RESTARTS = 5

/** @param {import('./fleet.mjs').Fleet} fleet @param {import('./scenarios.mjs').RunOptions} options */
export async function chaos(fleet, { minutes, seed }) {
  const random = seeded(seed)
  const between = (/** @type {number} */ least, /** @type {number} */ most) => least + random() * (most - least)
  const endsAt = performance.now() + minutes * 60_000
  const isOver = () => performance.now() > endsAt
  const counts = { applications: 0, nodes: 0, restarted: 0, forwarders: 0, outages: 0 }
  fleet.server.behavior = { kind: 'ok', latencyMs: 20 }

  const applications = async (/** @type {number} */ slot) => {
    for (let first = slot * SLOT_RECORDS; !isOver();) {
      const app = fleet.startApp({ first, count: SLOT_RECORDS, perSecond: PER_SECOND, awaitReady: true, end: 'hold' })
      await app.event('started')
      await sleep(between(500, 8_000))
      const isKilled = random() < 0.8
      const at = app.kill(isKilled ? 'SIGKILL' : 'SIGTERM')
      await app.done
      if (isKilled) counts.applications += 1
      fleet.expect(first, isKilled ? app.readAt(at - MARGIN_MS) : app.loggedAt())
      first = app.loggedAt() + 1 + GAP
    }
  }
  /** nats-server 2.10 sometimes stays unhealthy after a kill ("group node unhealthy"). An operator restarts it. */
  const restartUntilReady = async () => {
    for (let attempts = 0; attempts < MAX_RESTARTS; attempts += 1) {
      try {
        return await fleet.servers.ready(READY_MS)
      } catch {
        for (const node of fleet.servers.nodes) {
          if (await node.isReady()) continue
          counts.restarted += 1
          await node.restart()
        }
      }
    }
    await fleet.servers.ready(READY_MS)
  }
  const nodes = async () => {
    while (!isOver()) {
      await sleep(between(5_000, 20_000))
      const node = fleet.servers.nodes[Math.floor(random() * fleet.servers.nodes.length)]
      counts.nodes += 1
      if (random() < 0.3) {
        await node?.freeze()
        await sleep(between(2_000, 12_000))
        node?.thaw()
      } else {
        await node?.kill()
        await sleep(between(500, 5_000))
        await node?.start()
      }
      // One node at a time: the cluster needs two of three nodes.
      await restartUntilReady()
    }
  }
  const forwarders = async () => {
    while (!isOver()) {
      await sleep(between(3_000, 15_000))
      const running = fleet.runningForwarders
      await running[Math.floor(random() * running.length)]?.kill(random() < 0.8 ? 'SIGKILL' : 'SIGTERM')
      counts.forwarders += 1
      fleet.startForwarder()
    }
  }
  const service = async () => {
    while (!isOver()) {
      await sleep(between(10_000, 30_000))
      counts.outages += 1
      await fleet.server.down()
      await sleep(between(500, 8_000))
      await fleet.server.up()
    }
  }
  const slots = Array.from({ length: SLOTS }, (_, slot) => applications(slot))
  await Promise.all([...slots, nodes(), forwarders(), service()])
  return { notes: [`killed or taken down: ${JSON.stringify(counts)}`] }
}
