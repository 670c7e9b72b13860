/** Connects to NATS, and knows the oldest version of its servers. No other module opens a connection. */
import type { JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection, ServerInfo } from '@nats-io/transport-node'
import { parseCreds } from '../options/nats-credentials.js'
import type { NatsSettings } from '../options/nats-settings.js'
import { VERSION } from '../version.js'
import loadNats from './load-nats.cjs'

/** Limit per address of a server, in milliseconds. */
const CONNECT_TIMEOUT_MS = 3_000
/** Milliseconds between two attempts to reconnect. */
const RECONNECT_WAIT_MS = 250
/** Milliseconds. A hung server is detected after two to three intervals. */
const PING_INTERVAL_MS = 5_000
/** Shorter for commands, where a user waits. */
const COMMAND_PING_INTERVAL_MS = 2_000

/**
 * Opens a connection. By default it reconnects until it is closed. An open connection keeps the process alive.
 * @param purpose shown in the servers' monitoring, and part of the reply subjects: `forward` receives replies at `_INBOX.forward.>`.
 * Permissions per role can therefore keep an application from reading the forwarders' messages
 * @param reconnects commands set false: they fail when the connection is lost
 * @throws the client's errors, if no server can be reached or the credentials are rejected; an error of `require` if it is not installed
 */
export async function connectNats(
  settings: NatsSettings,
  purpose: string,
  { reconnects = true }: { readonly reconnects?: boolean } = {},
): Promise<NatsConnection> {
  const { connect, jwtAuthenticator, nkeyAuthenticator } = loadNats()
  const { servers, credentials, tls } = settings
  const secret = credentials?.reveal()
  const user = secret === undefined ? undefined : parseCreds(secret)
  const seed = new TextEncoder().encode(user?.seed ?? secret)
  return connect({
    servers: [...servers],
    name: `pino-ingest ${VERSION} ${purpose}`,
    inboxPrefix: toInboxPrefix(purpose),
    timeout: CONNECT_TIMEOUT_MS,
    reconnect: reconnects,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    maxReconnectAttempts: -1,
    pingInterval: reconnects ? PING_INTERVAL_MS : COMMAND_PING_INTERVAL_MS,
    maxPingOut: 2,
    // Keeps reconnecting: a replaced or revoked credential may become valid again.
    ignoreAuthErrorAbort: true,
    // Async traces capture a stack trace for each request.
    noAsyncTraces: true,
    ...(secret !== undefined && {
      authenticator: user === undefined ? nkeyAuthenticator(seed) : jwtAuthenticator(user.jwt, seed),
    }),
    ...(tls !== undefined && { tls }),
  })
}

/** Prefix of the reply subjects for this purpose. */
export function toInboxPrefix(purpose: string): string {
  return `_INBOX.${purpose.replace(/\W+/g, '-')}`
}

/** JetStream's API. Its requests need no other permission than their own, since the client's check of the account is left out. */
export function manageJetStream(connection: NatsConnection, timeoutMs: number): Promise<JetStreamManager> {
  return loadNats().jetstreamManager(connection, { timeout: timeoutMs, checkAPI: false })
}

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
