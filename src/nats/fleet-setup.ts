/** The streams, the bucket and the consumers of a fleet: finds, compares and creates them. It changes and deletes nothing. */
import type { ConsumerInfo, JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import { findDifferences } from './config-check.js'
import type { Problem } from './config-check.js'
import type { BatchKind, StreamNames } from './message.js'
import { isJetStreamMissing, isNotFound, isPermissionError, JETSTREAM_CODES, readErrorCode } from './nats-error.js'
import { toBucketConfig, toConsumerConfig, toDeadConfig, toQueueConfig } from './streams.js'
import type { StreamSizes } from './streams.js'

const GIB = 2 ** 30
/**
 * The queue holds 3.3 hours of 1,000 entries/s at 540 bytes each. Together with the others it fits the 10 GiB volume of NATS's Helm chart.
 * Dead letters: about two million entries. State: 7 days of 18 batches/s at 98 bytes each.
 */
const DEFAULT_SIZES: StreamSizes = { replicas: 3, maxBytes: 6 * GIB, maxDeadBytes: GIB, maxStateBytes: GIB }

export interface FleetPart {
  readonly kind: 'stream' | 'dead-letter stream' | 'bucket' | 'consumer'
  readonly name: string
  /** Rejects if it does not exist. */
  readonly read: () => Promise<StreamInfo | ConsumerInfo>
  readonly compare: (info: StreamInfo | ConsumerInfo) => Problem[]
  readonly create: () => Promise<unknown>
}

const STREAMS = [
  ['stream', toQueueConfig],
  ['dead-letter stream', toDeadConfig],
  ['bucket', toBucketConfig],
] as const
const KINDS: readonly BatchKind[] = ['logs', 'requests']

/** Lists streams before consumers, since a consumer needs its stream. @param sizes one that is not given is not compared; a new stream gets its default */
export function listFleet(
  { streams, consumers }: JetStreamManager,
  names: StreamNames,
  sizes: StreamSizes,
): FleetPart[] {
  const { stream } = names
  return [
    ...STREAMS.map(([kind, toConfig]): FleetPart => {
      const wanted = toConfig(names, sizes)
      const { name } = wanted
      return {
        kind,
        name,
        read: () => streams.info(name),
        compare: ({ config }) => findDifferences(config, wanted, (verb) => `nats stream ${verb} ${name}`),
        create: () => streams.add({ ...toConfig(names, DEFAULT_SIZES), ...wanted }),
      }
    }),
    ...KINDS.map((kind): FleetPart => {
      const wanted = toConsumerConfig(names, kind)
      const name = names.consumers[kind]
      return {
        kind: 'consumer',
        name,
        read: () => consumers.info(stream, name),
        compare: ({ config }) => findDifferences(config, wanted, (verb) => `nats consumer ${verb} ${stream} ${name}`),
        create: () => consumers.add(stream, wanted),
      }
    }),
  ]
}

/** Resolves to undefined if the part was created, otherwise to what exists. */
export async function findOrCreatePart({ read, create }: FleetPart): Promise<StreamInfo | ConsumerInfo | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  try {
    await create()
    return undefined
  } catch (error) {
    // Of several processes that create it at the same time, some may fail or get no reply.
    return read().catch(() => Promise.reject(error))
  }
}

/** What to do about an error of JetStream's API, whose description says what is wrong. */
export function findSetupFix(error: unknown): string {
  const code = readErrorCode(error)
  if (isNotFound(error)) return 'create it with pino-ingest forward init'
  if (isPermissionError(error)) return 'give the user the permissions of its role: docs/fleet-operations.md lists them'
  if (isJetStreamMissing(error))
    return 'enable JetStream (jetstream { … } in the configuration of the servers, and for the account); in a cluster, start a majority of the servers'
  if (code === JETSTREAM_CODES.replicasNeedCluster) return 'form a cluster, or for one server: --replicas 1'
  if (code === JETSTREAM_CODES.subjectsOverlap)
    return 'set PINO_INGEST_NATS_STREAM to a name whose subjects no stream uses: nats stream ls --subjects lists them'
  return 'start the missing servers, raise their max_file_store or the limit of the account, or set smaller sizes (--max-bytes, --max-dead-bytes, --max-state-bytes) or fewer --replicas'
}
