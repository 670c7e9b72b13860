/** Which versions of nats-server work, and which of them keep what they have acknowledged. */
import type { ServerInfo } from '@nats-io/transport-node'

/** Earlier servers do not name the consumer in the subjects of requests, which permissions need. */
const OLDEST = [2, 9, 0] as const
/**
 * When a server of a cluster is killed, earlier ones can give two messages the same sequence. The acknowledgement of one then deletes both.
 * @see https://jepsen.io/analyses/nats-2.12.1 for process crashes before 2.10.23
 */
const OLDEST_SAFE_CLUSTER = [2, 10, 23] as const

type Server = Pick<ServerInfo, 'version' | 'cluster'>

/** @returns what to do if the server is too old to work with */
export function findTooOld({ version }: Server): string | undefined {
  return isBefore(version, OLDEST) ? `update it: ${OLDEST.join('.')} or later is needed` : undefined
}

/** @returns the risk and what to do if the server belongs to a cluster that can lose acknowledged messages */
export function findLossRisk({ version, cluster }: Server): string | undefined {
  if (cluster === undefined || !isBefore(version, OLDEST_SAFE_CLUSTER)) return undefined
  return `nats-server ${version} can lose acknowledged batches when a server of the cluster is killed: update all servers to ${OLDEST_SAFE_CLUSTER.join('.')} or later`
}

function isBefore(version: string, oldest: readonly number[]): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10))
  for (const [at, least] of oldest.entries()) {
    const part = parts[at] ?? 0
    // A build without a number is not known to be old.
    if (Number.isNaN(part)) return false
    if (part !== least) return part < least
  }
  return false
}
