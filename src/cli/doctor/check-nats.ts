/** Checks the servers, streams, consumers and permissions of NATS JetStream. It changes and stores nothing. */
import type { ConsumerInfo, StreamInfo } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { findOldServer, toInboxPrefix } from '../../nats/connect.js'
import { findSetupFix, listFleet } from '../../nats/fleet-setup.js'
import { MAX_HEADER_BYTES } from '../../nats/jetstream-sender.js'
import {
  isInboxRefused,
  isJetStreamMissing,
  isPermissionError,
  JETSTREAM_CODES,
  readErrorCode,
} from '../../nats/nats-error.js'
import type { NatsSettings } from '../../options/nats-settings.js'
import type { Settings } from '../../options/resolve-options.js'
import { CommandError } from '../shared/command.js'
import { openNatsSession } from '../shared/nats-session.js'
import type { NatsSession } from '../shared/nats-session.js'
import { formatAge, formatCount, formatSize } from '../shared/terminal.js'
import { fail, pass } from '../shared/check.js'
import type { Check } from '../shared/check.js'

/** Share of `max_bytes` at which the queue is reported as nearly full. */
const NEARLY_FULL = 0.8
const PUBLISH_TIMEOUT_MS = 3_000

export const HTTP_SKIPPED = pass(
  'service',
  'not checked: with nats, pino-ingest forward sends to it instead of the application; to check it on a forwarder: PINO_INGEST_NATS_SERVERS= pino-ingest doctor',
)

/** Errors of NATS become failed checks. @throws IngestError `CONFIG` and CommandError if the client is not installed */
export async function checkNats(
  settings: Settings & { readonly nats: NatsSettings },
  wallNow: () => number,
): Promise<Check[]> {
  const { nats } = settings
  const sessions: NatsSession[] = []
  const checks = await Promise.all(nats.servers.map((server) => checkServer(nats, server, sessions)))
  try {
    const [session] = sessions
    if (session === undefined) return checks
    return [...checks, checkPayload(session.connection, settings), ...(await checkFleet(session, wallNow))]
  } finally {
    await Promise.all(sessions.map((session) => session.close()))
  }
}

/** Adds a session for this server: given all servers, the client would connect to any of them. */
async function checkServer(settings: NatsSettings, server: string, sessions: NatsSession[]): Promise<Check> {
  try {
    const session = await openNatsSession('doctor', { ...settings, servers: [server] })
    sessions.push(session)
    const { info } = session.connection
    const detail = `${server} is nats-server ${info?.version} (${info?.server_name})`
    const old = findOldServer(info)
    return old?.isRefused === true ? fail('server', detail, old.text) : pass('server', detail, old?.text)
  } catch (error) {
    if (!(error instanceof CommandError) || error.code === 'CONFIG') throw error
    return fail(error.code === 'AUTH' ? 'credentials' : 'server', error.message, error.details.join(' '))
  }
}

/** Both default to 1 MiB, which only unusually long entries reach. Batches are cut below it. */
function checkPayload({ info }: NatsConnection, { maxEntryBytes }: Settings): Check {
  const maxPayload = info?.max_payload ?? 0
  const room = maxPayload - MAX_HEADER_BYTES
  const advice = `entries above ${formatSize(room)} are shortened: raise max_payload of the servers to ${maxEntryBytes + MAX_HEADER_BYTES} or more`
  return pass('payload', `max_payload ${formatSize(maxPayload)}`, room < maxEntryBytes ? advice : undefined)
}

async function checkFleet(session: NatsSession, wallNow: () => number): Promise<Check[]> {
  const { manager, names, describe } = session
  const checks: Check[] = []
  let isForwarder = true
  for (const { kind, name, read, compare } of listFleet(manager, names, {})) {
    try {
      const info = await read()
      const problems = compare(info).map(({ problem, fix }) => fail(kind, `${name}: ${problem}`, fix))
      checks.push(...describePart(kind, info, wallNow()), ...problems)
    } catch (error) {
      if (isInboxRefused(error)) {
        const advice = `run doctor as the user of an application or a forwarder, or permit this user to subscribe to ${toInboxPrefix('doctor')}.>`
        return [fail('permissions', 'this user may not receive replies to doctor', advice)]
      }
      // The user lacks the permission, or its account only imports the subjects to publish to.
      const isInvisible = isPermissionError(error) || readErrorCode(error) === JETSTREAM_CODES.notEnabledForAccount
      if (isInvisible && kind === 'consumer') isForwarder = false
      checks.push(
        isInvisible
          ? pass(kind, `${name}: not checked; this user may not read it, and an application need not`)
          : fail(kind, `${name}: ${describe(error)}`, findSetupFix(error)),
      )
    }
  }
  const subjects = Object.values(names.subjects)
  return [...checks, ...(await Promise.all(subjects.map((one) => checkPublish(session, one, isForwarder))))]
}

function describePart(kind: string, info: StreamInfo | ConsumerInfo, wallNow: number): Check[] {
  if (!('state' in info)) {
    const waiting = formatCount(info.num_pending, 'batch waits', 'batches wait')
    return [pass(kind, `${info.name}: ${waiting}, ${info.num_ack_pending} held by forwarders`)]
  }
  const { state, config } = info
  const size = `${formatSize(state.bytes)} of ${config.max_bytes <= 0 ? 'no limit' : formatSize(config.max_bytes)}`
  const content = `${config.name}: ${formatCount(state.messages, 'message', 'messages')}, ${size}`
  if (kind !== 'stream' || state.messages === 0) return [pass(kind, content), checkReplicas(kind, info)]
  const age = `the oldest is ${formatAge(wallNow - Date.parse(state.first_ts))} old`
  const advice =
    'it is nearly full: start or check pino-ingest forward, or raise max_bytes; when it is full, applications keep entries in their spools'
  const isNearlyFull = config.max_bytes > 0 && state.bytes > NEARLY_FULL * config.max_bytes
  return [pass(kind, `${content}, ${age}`, isNearlyFull ? advice : undefined), checkReplicas(kind, info)]
}

/** Pure. */
export function checkReplicas(kind: string, { config, cluster }: Pick<StreamInfo, 'config' | 'cluster'>): Check {
  const behind = (cluster?.replicas ?? [])
    .filter(({ current, offline }) => !current || offline === true)
    .map(({ name, offline, lag = 0 }) => (offline === true ? `${name} is offline` : `${name} lags by ${lag}`))
  const found = [`${config.num_replicas - behind.length} of ${config.num_replicas} current`, ...behind].join(', ')
  if (behind.length > 0) return fail(`${kind} replicas`, found, 'start these servers and wait until they are current')
  const advice = `queued batches are lost if the disk fails, since there is one copy; with three servers: nats stream edit ${config.name} --replicas 3`
  return pass(`${kind} replicas`, found, config.num_replicas === 1 && kind === 'stream' ? advice : undefined)
}

async function checkPublish(session: NatsSession, subject: string, isForwarder: boolean): Promise<Check> {
  const { jetstream, names, describe } = session
  // No stream has this last sequence, so the server refuses the message. It checks the permission first.
  const expect = { streamName: names.stream, lastSequence: Number.MAX_SAFE_INTEGER }
  const options = { expect, timeout: PUBLISH_TIMEOUT_MS }
  const error: unknown = await jetstream.publish(subject, new Uint8Array(), options).catch((one: unknown) => one)
  if (readErrorCode(error) === JETSTREAM_CODES.wrongLastSequence)
    return pass('publish', `${subject}: permitted; the message was refused as intended, nothing is stored`)
  if (!isPermissionError(error)) {
    const problem = isJetStreamMissing(error) ? 'no stream has this subject' : describe(error)
    const fix = 'run pino-ingest forward init, or correct PINO_INGEST_NATS_STREAM'
    return fail('publish', `${subject}: ${problem}`, fix)
  }
  return isForwarder
    ? pass('publish', `${subject}: not permitted, which is correct for a forwarder; an application needs it`)
    : fail('publish', `${subject}: ${describe(error)}`, `permit the user to publish to ${subject}`)
}
