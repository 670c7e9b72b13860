/**
 * A queue of one or three nodes with its streams, and forwarders that deliver from it, as real processes on this
 * machine.
 */
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { runCommand, startCommand } from '../../test/nats/commands.mjs'
import { findOrFetchNatsServer, startNatsServers } from '../../test/nats/nats-servers.mjs'

const STREAM = 'PINO_INGEST'
const POLL_MS = 20
/** Linux: clock ticks per second in `/proc/<pid>/stat`. */
const TICKS_PER_SECOND = 100

/** @param {1 | 3} nodes */
export async function startQueue(nodes) {
  findOrFetchNatsServer()
  const servers = await startNatsServers({ nodes })
  const nats = servers.urls.join(',')
  try {
    await initialize(nats, nodes)
  } catch (error) {
    await servers.close()
    throw error
  }
  const connection = await connect({ servers: servers.urls, maxReconnectAttempts: -1 })
  const { streams } = await jetstreamManager(connection)
  return {
    nats,
    /** The value of the option `nats`. */
    option: { servers: servers.urls },
    /** The number of waiting batches. */
    waiting: async () => (await streams.info(STREAM)).state.messages,
    /** CPU of all nodes, in microseconds. */
    cpuUs: () => servers.nodes.reduce((sum, { pid }) => sum + processCpuUs(/** @type {number} */ (pid)), 0),
    /** Empties the queue. The stream does not permit a purge, so it is deleted and created again. */
    async empty() {
      await streams.delete(STREAM)
      await initialize(nats, nodes)
    },
    async close() {
      await connection.close()
      await servers.close()
    },
  }
}

/** @typedef {Awaited<ReturnType<typeof startQueue>>} Queue */

/** @param {string} nats @param {1 | 3} nodes */
function initialize(nats, nodes) {
  return runCommand(['forward', 'init', '--replicas', String(nodes), '--max-bytes', '2GiB'], {
    PINO_INGEST_NATS_SERVERS: nats,
  })
}

/** @param {Queue} queue @param {string} url @param {Record<string, string>} [env] */
export function startForwarder({ nats }, url, env = {}) {
  const forwarder = startCommand(['forward'], {
    PINO_INGEST_NATS_SERVERS: nats,
    PINO_INGEST_URL: url,
    PINO_INGEST_API_KEY: 'bench',
    ...env,
  })
  forwarder.child.stderr?.pipe(process.stderr)
  return {
    cpuUs: () => processCpuUs(/** @type {number} */ (forwarder.child.pid)),
    stop: () => forwarder.kill(),
  }
}

/**
 * Resolves when at most `batches` batches wait.
 *
 * @param {Queue} queue @param {number} batches @param {number} [timeoutMs]
 * @returns {Promise<{ at: number, waiting: number }>}
 */
export async function drained(queue, batches, timeoutMs = 300_000) {
  const endsAt = performance.now() + timeoutMs
  for (;;) {
    const waiting = await queue.waiting()
    const at = performance.now()
    if (waiting <= batches) return { at, waiting }
    if (at > endsAt) throw new Error(`${waiting} batches wait after ${timeoutMs / 1000} s`)
    await sleep(POLL_MS)
  }
}

/** CPU of all threads, including those that have ended. @param {number} pid */
function processCpuUs(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND
}
