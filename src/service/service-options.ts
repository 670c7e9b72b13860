/** The options of the local service: types, defaults and checks. */
import { createRandomToken } from './http/token-auth.js'
import { IngestServiceError } from './ingest-service-error.js'
import type { RateLimitOptions } from './http/rate-limit.js'
import type { RecordKind, Stored, StoredEntry } from './store/store.js'
import { isToken, TOKEN_RULE } from '../protocol/token-rule.js'

/** The two clocks that the service reads; both in milliseconds. */
export interface ServiceClock {
  /** Never jumps; for the request log, rate limits and the end of faults. */
  now(): number
  /** Since the Unix epoch; for `received_at`. */
  wallNow(): number
}

export interface IngestServiceOptions {
  /** Loopback only. Default `127.0.0.1`, which `localhost` stands for too. */
  readonly host?: '127.0.0.1' | '::1' | 'localhost'
  /** Default 0: a free one. */
  readonly port?: number
  /** Default: every key that is not empty is good. */
  readonly apiKeys?: readonly string[]
  /** Opens the page and `/local/`: 16 to 512 characters of A-Z, a-z, 0-9, - and _. Default: a random one. */
  readonly token?: string
  /** Default: every token is good. Where given, others get 404. */
  readonly monitorTokens?: readonly string[]
  /** Whether the valid entries of a batch are accepted beside invalid ones. Default true. */
  readonly partial?: boolean
  /** Status of a batch accepted in part. Default 422. */
  readonly partialStatus?: 200 | 422
  /** Answers a batch whose `batch_id` was accepted before with the same result, storing nothing. Default false. */
  readonly dedupeBatches?: boolean
  /** Longest body, before and after inflating. Default 5 MiB. */
  readonly maxBodyBytes?: number
  /** Default: none. */
  readonly rateLimit?: RateLimitOptions
  /** Milliseconds before every reply. Default 0. */
  readonly latencyMs?: number
  /**
   * `memory` (default), with a journal where `dbFile` is given; `sqlite`, which needs a runtime with `node:sqlite`;
   * `none`, which validates and counts only.
   */
  readonly store?: 'memory' | 'sqlite' | 'none'
  /** Where the store outlives the process. One running service a file. Default: nowhere. */
  readonly dbFile?: string
  /** Entries kept, the oldest go first; as many request logs. Default 200,000. */
  readonly maxEntries?: number
  /** Bytes kept, of JSON and of the text that searches look at, for entries and for each other kind. Default 192 MiB. */
  readonly maxStoreBytes?: number
  /** Records that came longer ago go, within a minute. Default: no bound by age. */
  readonly maxAgeMs?: number
  /** Requests kept in the request log. Default 10,000. */
  readonly maxRecordedRequests?: number
  /** Connections at once. Beyond, a new one takes the place of one that is idle or slow, or is closed at once. Default 1024. */
  readonly maxConnections?: number
  readonly clock?: ServiceClock
  /** Told of what the service itself suffers, as a full disk. Default: a process warning. */
  readonly onProblem?: (message: string) => void
  /** Called after entries were stored, before their reply. Must not throw. Default: nobody. */
  readonly onEntries?: (entries: readonly StoredEntry[]) => void
  /** The same for records of every kind, entries too. Must not throw. Default: nobody. */
  readonly onRecords?: (kind: RecordKind, records: readonly Stored[]) => void
}

/** Options whose absence means something. */
type Unset = 'apiKeys' | 'monitorTokens' | 'rateLimit' | 'dbFile' | 'maxAgeMs'

export type ResolvedServiceOptions = Required<Omit<IngestServiceOptions, Unset>> & Pick<IngestServiceOptions, Unset>

const DEFAULTS: Omit<ResolvedServiceOptions, Unset | 'token'> = {
  host: '127.0.0.1',
  port: 0,
  partial: true,
  partialStatus: 422,
  dedupeBatches: false,
  maxBodyBytes: 5 << 20,
  latencyMs: 0,
  store: 'memory',
  maxEntries: 200_000,
  maxStoreBytes: 192 << 20,
  maxRecordedRequests: 10_000,
  maxConnections: 1024,
  clock: { now: () => performance.now(), wallNow: () => Date.now() },
  onProblem: (message) => process.emitWarning(message, 'IngestServiceWarning'),
  onEntries: () => {},
  onRecords: () => {},
}

const KNOWN = [...Object.keys(DEFAULTS), 'token', 'apiKeys', 'monitorTokens', 'rateLimit', 'dbFile', 'maxAgeMs']
const HOSTS: readonly unknown[] = ['127.0.0.1', '::1', 'localhost']
const COUNTS = ['maxBodyBytes', 'maxEntries', 'maxStoreBytes', 'maxRecordedRequests', 'maxConnections'] as const

/** @throws IngestServiceError `OPTION`, naming the option, the rule and the value (never a key or token). */
export function resolveServiceOptions(options: IngestServiceOptions): ResolvedServiceOptions {
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) {
    throw new IngestServiceError('OPTION', `unknown option ${unknown}; known are ${KNOWN.join(', ')}`)
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const resolved: ResolvedServiceOptions = { ...DEFAULTS, token: createRandomToken(), ...Object.fromEntries(given) }

  const loopback = '127.0.0.1, ::1 or localhost, since the service must not be reachable from outside'
  check(resolved, 'host', HOSTS.includes(resolved.host), loopback)
  check(resolved, 'port', isInteger(resolved.port, 0) && resolved.port <= 65_535, 'an integer from 0 to 65535')
  check(resolved, 'store', ['memory', 'sqlite', 'none'].includes(resolved.store), 'memory, sqlite or none')
  check(resolved, 'partialStatus', [200, 422].includes(resolved.partialStatus), '200 or 422')
  check(resolved, 'latencyMs', Number.isFinite(resolved.latencyMs) && resolved.latencyMs >= 0, 'milliseconds from 0')
  for (const name of COUNTS) check(resolved, name, isInteger(resolved[name], 1), 'an integer from 1')
  const { rateLimit } = resolved
  const isRate = rateLimit === undefined || (isInteger(rateLimit.requests, 0) && rateLimit.windowMs > 0)
  check(resolved, 'rateLimit', isRate, '{ requests: an integer from 0, windowMs: above 0 }')
  const { maxAgeMs } = resolved
  check(resolved, 'maxAgeMs', maxAgeMs === undefined || maxAgeMs > 0, 'milliseconds above 0')
  // Without the value: it may be a good token with a line break behind it.
  if (!isToken(resolved.token)) throw new IngestServiceError('OPTION', `token must be ${TOKEN_RULE}`)
  const keepsFile = resolved.dbFile === undefined || (resolved.dbFile !== '' && resolved.store !== 'none')
  check(resolved, 'dbFile', keepsFile, 'a path, and not given with store none')
  return resolved
}

function isInteger(value: unknown, from: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= from
}

function check(
  options: ResolvedServiceOptions,
  name: keyof ResolvedServiceOptions,
  holds: boolean,
  rule: string,
): void {
  if (!holds) throw new IngestServiceError('OPTION', `${name} must be ${rule}; got ${JSON.stringify(options[name])}`)
}
