/** The option `nats`: the servers, credentials and stream of NATS JetStream. */
import type { Kind } from './kinds.js'
import { findNatsIdentity, parseCreds } from './nats-credentials.js'
import { Secret } from './secret.js'
import { checkTls } from './tls.js'
import type { Tls } from './tls.js'
import { isLoopback } from './url.js'

export interface NatsSettings {
  /** `host:port`. */
  readonly servers: readonly string[]
  /** Content of a `.creds` file, or the seed of an NKey. */
  readonly credentials?: Secret
  /** Set if connections must use TLS. Without it the client would accept an unencrypted connection. */
  readonly tls?: Tls
  readonly stream: string
  /**
   * Identifies the stream: entries on disk are sent nowhere else. Without credentials the servers as well; an account is the same
   * one after servers were added or replaced.
   */
  readonly destination: string
  /** Distinguishes accounts, likewise. Undefined without credentials and client certificate. Not a secret. */
  readonly identity?: string
}

/** With the members' defaults. */
export interface NatsOption {
  readonly servers?: readonly string[]
  readonly credentials?: string
  readonly tls?: Tls
  readonly stream: string
}

/** NATS: a seed of a user is base32, with this prefix. */
const SEED = /^SU[A-Z2-7]{56}$/

export const natsCredentials: Kind<string | Uint8Array> = {
  rule: "the content of a .creds file, or an NKey's seed (SU…)",
  read: (value) => {
    const read = value instanceof Uint8Array ? Buffer.from(value).toString() : value
    return typeof read === 'string' && (parseCreds(read) !== undefined || SEED.test(read.trim())) ? read : undefined
  },
  parse: (value) => value,
}

/** NATS: names of streams appear in subjects, so they contain no dot, wildcard, slash or space. */
export const streamName: Kind<string> = {
  rule: 'a name of letters, digits, - and _',
  read: (value) => (typeof value === 'string' && /^[\w-]{1,128}$/.test(value) ? value : undefined),
  parse: (value) => value,
}

const DEFAULT_PORT = '4222'

/** @returns undefined if no server is set. Errors are added to `problems`; they show no user info of a URL */
export function resolveNats(
  option: NatsOption | undefined,
  allowInsecure: boolean,
  problems: string[],
): NatsSettings | undefined {
  const { servers = [], credentials, tls, stream = '' } = option ?? {}
  if (servers.length === 0) return undefined
  const urls = servers.flatMap((one) => parseServer(one, problems) ?? [])
  const hasTls = tls !== undefined || urls.some(({ protocol }) => protocol === 'tls:')
  const open = urls.find(({ href }) => !isLoopback(href))
  if (!hasTls && !allowInsecure && open !== undefined) {
    problems.push(
      `nats.servers (PINO_INGEST_NATS_SERVERS) must begin with tls://, since log entries travel to them, got ${open.host} without it (allowInsecure: true or PINO_INGEST_ALLOW_INSECURE=true for a network you trust)`,
    )
  }
  const isUsable = checkTls('nats.tls', tls, problems)
  const identity = isUsable ? findNatsIdentity(credentials?.trim(), tls) : undefined
  const hosts = urls.map(({ hostname, port }) => `${hostname}:${port === '' ? DEFAULT_PORT : port}`)
  return {
    servers: hosts,
    ...(credentials !== undefined && { credentials: new Secret(credentials.trim()) }),
    ...(hasTls && { tls: tls ?? {} }),
    stream,
    destination: `nats://${credentials === undefined ? hosts.toSorted().join(',') : ''}/${stream}`,
    ...(identity !== undefined && { identity }),
  }
}

function parseServer(given: string, problems: string[]): URL | undefined {
  const text = given.includes('://') ? given.trim() : `nats://${given.trim()}`
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') {
    problems.push(
      'nats.servers (PINO_INGEST_NATS_SERVERS) must be hosts with a port, such as tls://nats.example.com:4222 or 127.0.0.1:4222; one is not (not shown)',
    )
    return undefined
  }
  if (url.username !== '' || url.password !== '') {
    problems.push(`nats.servers must hold no user name or password, got them for ${url.host}; use nats.credentials`)
    return undefined
  }
  return url
}
