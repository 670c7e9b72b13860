/** Checks the servers, streams, consumers and permissions of NATS JetStream. It changes and stores nothing. */
import type { JetStreamClient, JetStreamManager, StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { findConsumerDifferences, findStreamDifferences } from '../../nats/config-check.js'
import type { Difference, StreamRole } from '../../nats/config-check.js'
import { toInboxPrefix } from '../../nats/connect.js'
import { describeSetupFailure } from '../../nats/fleet-setup.js'
import { toStreamNames } from '../../nats/message.js'
import type { BatchKind, StreamNames } from '../../nats/message.js'
import {
  isInboxRefused,
  isJetStreamMissing,
  isPermissionError,
  JETSTREAM_CODES,
  readErrorCode,
} from '../../nats/nats-error.js'
import { findOldServer } from '../../nats/server-version.js'
import { toBucketConfig, toConsumerConfig, toDeadConfig, toQueueConfig } from '../../nats/streams.js'
import type { StreamSettings } from '../../nats/streams.js'
import type { NatsSettings } from '../../options/nats-settings.js'
import type { Settings } from '../../options/resolve-options.js'
import { CommandError } from '../shared/command.js'
import { toConnectionAdvice } from '../shared/nats-connection-advice.js'
import { openNatsSession } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'
import { formatAge, formatCount, formatSize } from '../shared/terminal-format.js'
import { fail, pass } from './doctor-check.js'
import type { Check } from './doctor-check.js'

/** Bytes of a message reserved for its headers. */
const HEADER_BYTES = 1_024
/** Share of `max_bytes` at which the stream is reported as nearly full. */
const NEARLY_FULL = 0.8
const INIT = 'create it with pino-ingest forward init'
/** Placeholders, since sizes are not compared. */
const ANY_SIZES = { replicas: 1, maxBytes: 1, maxDeadBytes: 1, maxStateBytes: 1 }
const NONE_NAMED: ReadonlySet<never> = new Set()

export const HTTP_SKIPPED = pass(
  'service',
  'not checked: with nats, pino-ingest forward sends to it instead of the application; to check it on a forwarder: PINO_INGEST_NATS_SERVERS= pino-ingest doctor',
)

interface NatsTools {
  readonly jetstream: JetStreamClient
  readonly manager: JetStreamManager
  readonly names: StreamNames
  readonly describe: (error: unknown) => string
  readonly wallNow: () => number
}

/** Errors of NATS become failed checks. @throws IngestError `CONFIG` and CommandError if the client is not installed */
export async function checkNats(
  settings: Settings & { readonly nats: NatsSettings },
  wallNow: () => number,
): Promise<Check[]> {
  const { nats } = settings
  const opened = await Promise.all(nats.servers.map((server) => checkServer(nats, server)))
  const checks = opened.map(({ check }) => check)
  const sessions = opened.flatMap(({ session }) => session ?? [])
  try {
    const [session] = sessions
    if (session === undefined) return checks
    const tools = { ...session, names: toStreamNames(nats), wallNow }
    const refused = await checkInbox(tools)
    if (refused !== undefined) return [...checks, refused]
    const { isForwarder, checks: consumers } = await checkConsumers(tools)
    return [
      ...checks,
      ...sessions.slice(0, 1).flatMap(({ connection }) => checkLimits(connection, settings)),
      ...(await checkStream('queue', 'stream', toQueueConfig(tools.names, ANY_SIZES), tools, isForwarder)),
      ...consumers,
      ...(await checkStream('dead', 'dead letters', toDeadConfig(tools.names, ANY_SIZES), tools, isForwarder)),
      ...(await checkStream('bucket', 'bucket', toBucketConfig(tools.names, ANY_SIZES), tools, isForwarder)),
      ...(await checkPublish(tools, isForwarder)),
    ]
  } finally {
    await Promise.all(sessions.map((session) => session.close()))
  }
}

/** Uses a separate connection: given all servers, the client would connect to any of them. */
async function checkServer(
  settings: NatsSettings,
  server: string,
): Promise<{ readonly check: Check; readonly session?: NatsSession }> {
  try {
    const session = await openNatsSession('doctor', { ...settings, servers: [server] })
    return { check: describeServer(session.connection, server, settings), session }
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === 'CONFIG') throw error
    const fix = toConnectionAdvice(settings, error.message, error.code === 'AUTH')
    return { check: fail(error.code === 'AUTH' ? 'credentials' : 'server', error.message, fix) }
  }
}

function describeServer({ info }: NatsConnection, server: string, { tls, credentials }: NatsSettings): Check {
  if (info === undefined) return pass('server', server)
  const { version, server_name: name } = info
  const access = `${tls === undefined ? 'no TLS' : 'TLS'}, ${credentials === undefined ? 'no credentials' : 'credentials accepted'}`
  const detail = `${server} is nats-server ${version} (${name}), ${access}`
  const old = findOldServer(info)
  return old?.isRefused === true ? fail('server', detail, old.text) : pass('server', detail, old?.text)
}

function checkLimits({ info }: NatsConnection, { batch, maxEntryBytes }: Settings): Check[] {
  if (info === undefined) return []
  const room = info.max_payload - HEADER_BYTES
  // Both default to 1 MiB, which only batches of unusually long entries reach. A smaller max_payload alone is not a warning.
  const effect =
    room < batch.bytes ? `limits batches to less than batch.bytes, ${formatSize(batch.bytes)}` : 'batches fit'
  const advice = `entries above ${formatSize(room)} are shortened: raise max_payload of the servers to ${maxEntryBytes + HEADER_BYTES} or more`
  return [
    pass(
      'payload',
      `max_payload ${formatSize(info.max_payload)}: ${effect}`,
      room < maxEntryBytes ? advice : undefined,
    ),
  ]
}

/** Checks the permission to receive replies first: without it every other check would fail. */
async function checkInbox({ manager, names, describe }: NatsTools): Promise<Check | undefined> {
  try {
    await manager.streams.info(names.stream)
  } catch (error) {
    if (isInboxRefused(error)) {
      return fail(
        'permissions',
        `this user may not receive replies to doctor: ${describe(error)}`,
        `run doctor as the user of an application or a forwarder, or permit this user to subscribe to ${toInboxPrefix('doctor')}.>`,
      )
    }
  }
  return undefined
}

async function checkStream(
  role: StreamRole,
  name: string,
  wanted: StreamSettings,
  tools: NatsTools,
  isForwarder: boolean,
): Promise<Check[]> {
  let info: StreamInfo
  try {
    info = await tools.manager.streams.info(wanted.name)
  } catch (error) {
    return [toFailedCheck(name, wanted.name, error, tools, role !== 'queue' || !isForwarder)]
  }
  const { state, config } = info
  const oldestMs = state.messages === 0 ? 0 : tools.wallNow() - Date.parse(state.first_ts)
  const size = `${formatSize(state.bytes)} of ${config.max_bytes <= 0 ? 'no limit' : formatSize(config.max_bytes)}`
  const content = `${formatCount(state.messages, 'message', 'messages')}, ${size}`
  const age = role === 'queue' && state.messages > 0 ? `, the oldest is ${formatAge(oldestMs)} old` : ''
  const isNearlyFull = role === 'queue' && config.max_bytes > 0 && state.bytes > NEARLY_FULL * config.max_bytes
  return [
    pass(
      name,
      `${wanted.name}: ${content}${age}`,
      isNearlyFull
        ? 'it is nearly full: start or check pino-ingest forward, or raise max_bytes; when it is full, applications keep entries in their spools'
        : undefined,
    ),
    ...describeDifferences(name, findStreamDifferences(role, config, wanted, NONE_NAMED)),
    ...checkReplicas(name, info),
  ]
}

/** Pure. */
export function checkReplicas(name: string, { config, cluster }: Pick<StreamInfo, 'config' | 'cluster'>): Check[] {
  const label = `${name} replicas`
  const replicas = cluster?.replicas ?? []
  const behind = replicas.filter(({ current, offline }) => !current || offline === true)
  const found = `${config.num_replicas - behind.length} of ${config.num_replicas} current`
  if (behind.length > 0) {
    const names = behind.map(
      (one) => `${one.name} ${one.offline === true ? 'is offline' : `lags by ${one.lag ?? '?'}`}`,
    )
    return [fail(label, `${found}: ${names.join(', ')}`, 'start these servers and wait until they are current')]
  }
  const advice = `queued batches are lost if the disk fails, since there is one copy; with three servers: nats stream edit ${config.name} --replicas 3`
  return [pass(label, found, config.num_replicas === 1 && name === 'stream' ? advice : undefined)]
}

async function checkConsumers(
  tools: NatsTools,
): Promise<{ readonly checks: readonly Check[]; readonly isForwarder: boolean }> {
  const { manager, names } = tools
  const checks: Check[] = []
  let isForwarder = true
  for (const kind of ['logs', 'requests'] satisfies BatchKind[]) {
    const name = names.consumers[kind]
    try {
      const { config, num_pending: pending, num_ack_pending: open } = await manager.consumers.info(names.stream, name)
      checks.push(
        pass('consumer', `${name}: ${formatCount(pending, 'batch waits', 'batches wait')}, ${open} held by forwarders`),
        ...describeDifferences(
          'consumer',
          findConsumerDifferences(names.stream, config, toConsumerConfig(names, kind)),
        ),
      )
    } catch (error) {
      isForwarder &&= !isInvisible(error)
      checks.push(toFailedCheck('consumer', name, error, tools, true))
    }
  }
  return { checks, isForwarder }
}

/** No stream has this last sequence, so the server refuses the message. It checks the permission first. */
const IMPOSSIBLE_SEQUENCE = Number.MAX_SAFE_INTEGER
const PUBLISH_TIMEOUT_MS = 3_000
const SEE_STREAM = 'run pino-ingest forward init, or correct PINO_INGEST_NATS_STREAM and PINO_INGEST_NATS_SUBJECT'

async function checkPublish({ jetstream, names, describe }: NatsTools, isForwarder: boolean): Promise<Check[]> {
  const check = async (subject: string): Promise<Check> => {
    try {
      await jetstream.publish(subject, new Uint8Array(), {
        expect: { streamName: names.stream, lastSequence: IMPOSSIBLE_SEQUENCE },
        timeout: PUBLISH_TIMEOUT_MS,
      })
      return fail('publish', `${subject}: an empty message was stored`, 'this is a bug, please report it')
    } catch (error) {
      if (readErrorCode(error) === JETSTREAM_CODES.wrongLastSequence)
        return pass('publish', `${subject}: permitted; the message was refused as intended, nothing is stored`)
      if (isPermissionError(error) && isForwarder)
        return pass('publish', `${subject}: not permitted, which is correct for a forwarder; an application needs it`)
      if (isPermissionError(error))
        return fail(
          'publish',
          `${subject}: not permitted (${describe(error)})`,
          `permit the user to publish to ${subject}`,
        )
      if (isJetStreamMissing(error)) return fail('publish', `${subject}: no stream has this subject`, SEE_STREAM)
      // Across accounts a missing stream causes a timeout.
      return fail('publish', `${subject}: not acknowledged (${describe(error)})`, SEE_STREAM)
    }
  }
  return Promise.all(Object.values(names.subjects).map(check))
}

function describeDifferences(name: string, differences: readonly Difference[]): Check[] {
  return differences.map(({ setting, is, shouldBe, fix }) =>
    fail(name, `${setting} is ${is}, should be ${shouldBe}`, fix),
  )
}

/** Whether the user lacks the permission, or its account only imports the subjects to publish to. */
function isInvisible(error: unknown): boolean {
  return isPermissionError(error) || readErrorCode(error) === JETSTREAM_CODES.notEnabledForAccount
}

/** @param isOptional whether applications need no permission to read it */
function toFailedCheck(
  name: string,
  what: string,
  error: unknown,
  { describe }: NatsTools,
  isOptional: boolean,
): Check {
  const code = readErrorCode(error)
  if (code === JETSTREAM_CODES.streamNotFound || code === JETSTREAM_CODES.consumerNotFound)
    return fail(name, `${what} does not exist`, INIT)
  if (isInvisible(error) && isOptional)
    return pass(name, `${what}: not checked; this user may not read it, and an application need not`)
  const { problem, fix } = describeSetupFailure(error, describe(error), 1)
  return fail(name, `${what}: ${problem}`, fix)
}
