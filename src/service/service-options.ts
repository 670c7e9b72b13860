/** The options of the local service: types, defaults and validation. */
import { isToken, TOKEN_RULE } from '../protocol/token-rule.js'
import { backgroundClock } from '../shared/clock.js'
import type { Clock } from '../shared/clock.js'
import type { RateLimitOptions } from './http/rate-limit.js'
import { createRandomToken } from './http/token-auth.js'
import { IngestServiceError } from './ingest-service-error.js'
import type { RecordKind, Stored } from './store/stored-record.js'

/** Time, which tests can control. */
export interface ServiceClock {
  /** Milliseconds on a clock that never jumps, for recorded requests, rate limits and faults. */
  now(): number
  /** Milliseconds since the Unix epoch, for `received_at`. */
  wallNow(): number
  /** As `Clock.timer`. Default: timers that do not keep the process alive. */
  timer?(delayMs: number, fire: () => void): () => void
}

export interface IngestServiceOptions {
  /** Loopback only. Default `127.0.0.1`; `localhost` means the same. */
  readonly host?: '127.0.0.1' | '::1' | 'localhost'
  /** Default 0: a free port. */
  readonly port?: number
  /** Default: every key that is not empty is valid. */
  readonly apiKeys?: readonly string[]
  /** Required by `/local/`: 16 to 512 characters of A-Z, a-z, 0-9, - and _. Default: a random one. */
  readonly token?: string
  /** Default: every token is valid. If given, heartbeats with other tokens get 404. */
  readonly monitorTokens?: readonly string[]
  /** Whether the valid entries of a batch are stored if others are invalid. Default true. */
  readonly partial?: boolean
  /** Status of the reply to a batch that was partly stored. Default 422. */
  readonly partialStatus?: 200 | 422
  /** Answers a batch whose `batch_id` was accepted before with the same result, and stores nothing. Default false. */
  readonly dedupeBatches?: boolean
  /** Longest body, before and after inflating. Default 5 MiB. */
  readonly maxBodyBytes?: number
  /** Default: none. */
  readonly rateLimit?: RateLimitOptions
  /** Milliseconds before every reply. Default 0. */
  readonly latencyMs?: number
  /** Journal that outlives the process; one running service per file. Default: none. */
  readonly dbFile?: string
  /** Maximum of stored entries, and of stored request logs; the oldest are dropped first. Default 200,000. */
  readonly maxEntries?: number
  /** Bytes of JSON and search text, for entries and for each other kind. Default 192 MiB. */
  readonly maxStoreBytes?: number
  /** Records that were received longer ago are deleted within a minute. Default: no limit. */
  readonly maxAgeMs?: number
  /** Maximum of recorded requests; the oldest are dropped first. Default 10,000. */
  readonly maxRecordedRequests?: number
  readonly clock?: ServiceClock
  /** Called with problems of the service itself, such as a full disk. Default: a process warning. */
  readonly onProblem?: (message: string) => void
  /** Called after records were stored, before their reply is sent. Must not throw. */
  readonly onRecords?: (kind: RecordKind, records: readonly Stored[]) => void
}

/** Options without a default. */
type Unset = 'apiKeys' | 'monitorTokens' | 'rateLimit' | 'dbFile' | 'maxAgeMs'

type Mandatory = Required<Omit<IngestServiceOptions, Unset>> & { readonly clock: Clock }

export type ResolvedServiceOptions = Mandatory & { readonly [K in Unset]: IngestServiceOptions[K] | undefined }

const DEFAULTS: Omit<ResolvedServiceOptions, 'token'> = {
  host: '127.0.0.1',
  port: 0,
  apiKeys: undefined,
  monitorTokens: undefined,
  partial: true,
  partialStatus: 422,
  dedupeBatches: false,
  maxBodyBytes: 5 << 20,
  rateLimit: undefined,
  latencyMs: 0,
  dbFile: undefined,
  maxEntries: 200_000,
  maxStoreBytes: 192 << 20,
  maxAgeMs: undefined,
  maxRecordedRequests: 10_000,
  clock: backgroundClock,
  onProblem: (message) => process.emitWarning(message, 'IngestServiceWarning'),
  onRecords: () => {},
}

const KNOWN = [...Object.keys(DEFAULTS), 'token']
const HOSTS: readonly unknown[] = ['127.0.0.1', '::1', 'localhost']
const COUNTS = ['maxBodyBytes', 'maxEntries', 'maxStoreBytes', 'maxRecordedRequests'] as const

/** @throws IngestServiceError `OPTION`, with the option, the rule and the value (never a key or token). */
export function resolveServiceOptions(options: IngestServiceOptions): ResolvedServiceOptions {
  const unknown = Object.keys(options).find((name) => !KNOWN.includes(name))
  if (unknown !== undefined) {
    throw new IngestServiceError('OPTION', `unknown option ${unknown}; known are ${KNOWN.join(', ')}`)
  }
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const resolved: ResolvedServiceOptions = { ...DEFAULTS, token: createRandomToken(), ...Object.fromEntries(given) }
  const { host, port, partialStatus, latencyMs, rateLimit, maxAgeMs, dbFile, token } = resolved

  const loopback = '127.0.0.1, ::1 or localhost, since the service must not be reachable from outside'
  check(resolved, 'host', HOSTS.includes(host), loopback)
  check(resolved, 'port', isInteger(port, 0) && port <= 65_535, 'an integer from 0 to 65535')
  check(resolved, 'partialStatus', [200, 422].includes(partialStatus), '200 or 422')
  check(resolved, 'latencyMs', Number.isFinite(latencyMs) && latencyMs >= 0, 'milliseconds from 0')
  for (const name of COUNTS) check(resolved, name, isInteger(resolved[name], 1), 'an integer from 1')
  const isRate = rateLimit === undefined || (isInteger(rateLimit.requests, 0) && rateLimit.windowMs > 0)
  check(resolved, 'rateLimit', isRate, '{ requests: an integer from 0, windowMs: above 0 }')
  check(resolved, 'maxAgeMs', maxAgeMs === undefined || maxAgeMs > 0, 'milliseconds above 0')
  check(resolved, 'dbFile', dbFile !== '', 'a path')
  // Without the value, which may be a valid token followed by a line break.
  if (!isToken(token)) throw new IngestServiceError('OPTION', `token must be ${TOKEN_RULE}`)
  return { ...resolved, clock: completeClock(resolved.clock) }
}

function completeClock(clock: ServiceClock): Clock {
  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    timer: (delayMs, fire) => clock.timer?.(delayMs, fire) ?? backgroundClock.timer(delayMs, fire),
  }
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
