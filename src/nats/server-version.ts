/** The oldest version of nats-server that a fleet can use. */
import type { ServerInfo } from '@nats-io/transport-node'

/**
 * When a server of a cluster is killed, earlier ones can give two messages the same sequence. The acknowledgement of one then deletes both.
 * @see https://jepsen.io/analyses/nats-2.12.1 for process crashes before 2.10.23
 */
const OLDEST = '2.10.23'

export interface OldServer {
  /** Whether it belongs to a cluster and must not be used. A single server has no replicas that could differ. */
  readonly isRefused: boolean
  /** The version, its effect, and what to do. */
  readonly text: string
}

/** @returns undefined if the version is supported. A build without a number is not known to be old */
export function findOldServer(server: Pick<ServerInfo, 'version' | 'cluster'> | undefined): OldServer | undefined {
  if (server === undefined || !(toNumber(server.version) < toNumber(OLDEST))) return undefined
  const text = `nats-server ${server.version} is too old, and can lose acknowledged batches in a cluster: update all servers to ${OLDEST} or later`
  return { isRefused: server.cluster !== undefined, text }
}

/** For comparison. NaN, which is less than no number, if the version has no number. */
function toNumber(version: string): number {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return (major * 1_000 + minor) * 1_000 + patch
}
