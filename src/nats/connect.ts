/** Connects to NATS. The only module that opens its connections. */
import type { NatsConnection } from '@nats-io/transport-node'
import { parseCreds } from '../options/nats-credentials.js'
import type { NatsSettings } from '../options/nats-settings.js'
import { VERSION } from '../version.js'
import loadNats from './load-nats.cjs'

/** Milliseconds for one server, at most. */
const CONNECT_TIMEOUT_MS = 3_000
/** Milliseconds between two attempts to connect again. */
const RECONNECT_WAIT_MS = 250
/** A hung server is recognized after two to three of these. Milliseconds. */
const PING_INTERVAL_MS = 5_000
/** As long as nobody wants to wait for a command. */
const COMMAND_PING_INTERVAL_MS = 2_000

export interface ConnectOptions {
  /** False: for a command, which fails when its server does not answer any more. Default true. */
  readonly reconnects?: boolean
  /** For all servers together, unless a name has several addresses. Default: each is waited for. */
  readonly timeoutMs?: number
}

/**
 * Opens a connection, which by default reconnects by itself until it is closed. An open connection keeps the process alive.
 * @param purpose shown in the servers' monitoring, and part of the subjects of replies: `forward` receives them at `_INBOX.forward.>`. If
 * permissions grant each role its own, an application cannot read what forwarders receive
 * @throws the client's errors, if no server can be reached or the credentials are rejected; errors of `require` if it is not installed
 */
export async function connectNats(
  settings: NatsSettings,
  purpose: string,
  { reconnects = true, timeoutMs = Infinity }: ConnectOptions = {},
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
    timeout: Math.min(CONNECT_TIMEOUT_MS, Math.ceil(timeoutMs / servers.length)),
    reconnect: reconnects,
    reconnectTimeWait: RECONNECT_WAIT_MS,
    maxReconnectAttempts: -1,
    pingInterval: reconnects ? PING_INTERVAL_MS : COMMAND_PING_INTERVAL_MS,
    maxPingOut: 2,
    // A replaced or revoked credential may become valid again.
    ignoreAuthErrorAbort: true,
    // They cost a stack trace for each request.
    noAsyncTraces: true,
    ...(secret !== undefined && {
      authenticator: user === undefined ? nkeyAuthenticator(seed) : jwtAuthenticator(user.jwt, seed),
    }),
    ...(tls !== undefined && { tls }),
  })
}

/** Replies to this purpose have subjects below it. */
export function toInboxPrefix(purpose: string): string {
  return `_INBOX.${purpose.replace(/\W+/g, '-')}`
}
