/** Creates the streams, the bucket and the consumers of a fleet, or compares existing ones. It changes and deletes nothing. */
import type { JetStreamManager } from '@nats-io/jetstream'
import { findConsumerDifferences, findStreamDifferences } from './config-check.js'
import type { Difference, NamedSize, StreamRole } from './config-check.js'
import type { BatchKind, StreamNames } from './message.js'
import {
  isAuthorizationError,
  isJetStreamMissing,
  isPermissionError,
  JETSTREAM_CODES,
  readErrorCode,
} from './nats-error.js'
import { toBucketConfig, toConsumerConfig, toDeadConfig, toQueueConfig } from './streams.js'
import type { StreamSettings, StreamSizes } from './streams.js'

export interface FleetItem {
  readonly kind: 'stream' | 'dead-letter stream' | 'bucket' | 'consumer'
  readonly name: string
  readonly status: 'created' | 'ok' | 'differs' | 'failed'
  readonly differences: readonly Difference[]
  /** Reason why it could not be created or read. */
  readonly problem?: string
  readonly fix?: string
}

export interface Failure {
  readonly problem: string
  readonly fix: string
}

export interface FleetRequest {
  readonly sizes: StreamSizes
  /** Sizes that existing streams must reach. */
  readonly named: Readonly<Record<StreamRole, ReadonlySet<NamedSize>>>
}

/** Does not reject for an error of NATS: the item contains it. */
export async function setUpFleet(
  manager: JetStreamManager,
  names: StreamNames,
  { sizes, named }: FleetRequest,
  describe: (error: unknown) => Failure,
): Promise<FleetItem[]> {
  const streams: readonly (readonly [StreamRole, FleetItem['kind'], StreamSettings])[] = [
    ['queue', 'stream', toQueueConfig(names, sizes)],
    ['dead', 'dead-letter stream', toDeadConfig(names, sizes)],
    ['bucket', 'bucket', toBucketConfig(names, sizes)],
  ]
  const items: FleetItem[] = []
  for (const [role, kind, wanted] of streams) {
    const name = kind === 'bucket' ? names.bucket : wanted.name
    items.push(
      await setUpItem(kind, name, describe, {
        find: async () => (await manager.streams.info(wanted.name)).config,
        create: () => manager.streams.add(wanted),
        compare: (actual) => findStreamDifferences(role, actual, wanted, named[role]),
      }),
    )
  }
  // A consumer cannot be created without its stream.
  if (!['created', 'ok', 'differs'].includes(items[0]?.status ?? '')) return items
  for (const kind of ['logs', 'requests'] satisfies BatchKind[]) {
    const wanted = toConsumerConfig(names, kind)
    items.push(
      await setUpItem('consumer', names.consumers[kind], describe, {
        find: async () => (await manager.consumers.info(names.stream, names.consumers[kind])).config,
        create: () => manager.consumers.add(names.stream, wanted),
        compare: (actual) => findConsumerDifferences(names.stream, actual, wanted),
      }),
    )
  }
  return items
}

interface Steps<Config> {
  /** Rejects if it does not exist. */
  readonly find: () => Promise<Config>
  readonly create: () => Promise<unknown>
  readonly compare: (actual: Config) => readonly Difference[]
}

async function setUpItem<Config>(
  kind: FleetItem['kind'],
  name: string,
  describe: (error: unknown) => Failure,
  { find, create, compare }: Steps<Config>,
): Promise<FleetItem> {
  try {
    let config = await orUndefined(find)
    if (config === undefined) {
      try {
        await create()
        return { kind, name, status: 'created', differences: [] }
      } catch (error) {
        // Another process may have created it meanwhile, with other sizes.
        config = await orUndefined(find)
        if (config === undefined) throw error
      }
    }
    const differences = compare(config)
    return { kind, name, status: differences.length === 0 ? 'ok' : 'differs', differences }
  } catch (error) {
    return { kind, name, status: 'failed', differences: [], ...describe(error) }
  }
}

async function orUndefined<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find()
  } catch (error) {
    const code = readErrorCode(error)
    if (code === JETSTREAM_CODES.streamNotFound || code === JETSTREAM_CODES.consumerNotFound) return undefined
    throw error
  }
}

const NO_STORAGE: readonly number[] = [
  JETSTREAM_CODES.accountLimit,
  JETSTREAM_CODES.insufficientResources,
  JETSTREAM_CODES.memoryExceeded,
  JETSTREAM_CODES.insufficientStorage,
]

/** @param text the error as text, without secrets */
export function describeSetupFailure(error: unknown, text: string, replicas: number): Failure {
  const code = readErrorCode(error)
  if (code === JETSTREAM_CODES.replicasNeedCluster) {
    return {
      problem: `${replicas} replicas need a cluster of at least ${replicas} servers, but this server is not in a cluster (${text})`,
      fix: 'form a cluster, or for one server: --replicas 1',
    }
  }
  if (code === JETSTREAM_CODES.noPeers) {
    return {
      problem: `the cluster has too few JetStream servers or too little storage for ${replicas} replicas (${text})`,
      fix: 'start the missing servers, raise max_file_store of the servers, or set smaller sizes (--max-bytes, --max-dead-bytes, --max-state-bytes) or fewer --replicas',
    }
  }
  if (code !== undefined && NO_STORAGE.includes(code)) {
    return {
      problem: `insufficient storage on the server or in the account (${text})`,
      fix: 'raise max_file_store of the servers or the limit of the account, or set smaller sizes: --max-bytes, --max-dead-bytes, --max-state-bytes',
    }
  }
  if (code === JETSTREAM_CODES.subjectsOverlap) {
    return {
      problem: `another stream uses these subjects (${text})`,
      fix: 'set PINO_INGEST_NATS_SUBJECT to a subject that no stream uses: nats stream ls --subjects lists them',
    }
  }
  if (isPermissionError(error)) {
    return {
      problem: `the user lacks the permission (${text})`,
      fix: 'give the user the permissions of its role: docs/fleet.md lists them',
    }
  }
  if (isAuthorizationError(error)) {
    return {
      problem: `the credentials are rejected (${text})`,
      fix: 'set PINO_INGEST_NATS_CREDS to a file with valid credentials',
    }
  }
  if (isJetStreamMissing(error)) {
    return {
      problem: `JetStream is not available (${text})`,
      fix: 'enable it (jetstream { … } in the configuration of the servers, and for the account); in a cluster, start most of the servers',
    }
  }
  return { problem: text, fix: 'check the servers: nats server report jetstream' }
}
