/** The options of the local service: types, defaults and validation. */
import { isToken, TOKEN_RULE } from '../protocol/token-rule.js'
import { describeType, describeValue, isFunction, isObject, readOptions } from '../shared/argument-checks.js'
import { backgroundClock } from '../shared/clock.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import type { RateLimitOptions } from './http/endpoint-handler.js'
import { createRandomToken } from './http/access.js'
import type { RecordKind, Stored } from './store/stored-record.js'

/** Time, which tests can control. */
export interface ServiceClock {
  /** Milliseconds on a clock that never jumps, for recorded requests, rate limits and faults. */
  now(): number
  /** Milliseconds since the Unix epoch, for `received_at`. */
  wallNow(): number
  /** Calls `fire` after `delayMs`; returns a function that cancels. Default: timers that do not keep the process alive. */
  timer?(delayMs: number, fire: () => void): () => void
}

/** Options of `createIngestService()`. */
export interface IngestServiceOptions {
  /** Loopback only. Default `127.0.0.1`; `localhost` means the same. */
  readonly host?: '127.0.0.1' | '::1' | 'localhost'
  /** TCP port. Default 0: a free port. */
  readonly port?: number
  /** Valid keys; others get 401. Default: every key that is not empty is valid. */
  readonly apiKeys?: readonly string[]
  /** Required by `/local/`: 16 to 512 characters of A-Z, a-z, 0-9, - and _. Default: a random one. */
  readonly token?: string
  /** Valid tokens of monitors; heartbeats with others get 404. Default: every token is valid. */
  readonly monitorTokens?: readonly string[]
  /** Whether the valid entries of a batch are stored if others are invalid. Default true. */
  readonly partial?: boolean
  /** Status of the reply to a batch that was partly stored. Default 422. */
  readonly partialStatus?: 200 | 422
  /** Answers a batch whose `batch_id` was accepted before with the same result, and stores nothing. Default false. */
  readonly dedupeBatches?: boolean
  /** Longest body in bytes. Default 5 MiB. */
  readonly maxBodyBytes?: number
  /** Limit of requests, beyond which the reply is 429. Default: none. */
  readonly rateLimit?: RateLimitOptions
  /** Milliseconds before every reply. Default 0. */
  readonly latencyMs?: number
  /** Path of a file that outlives the process; one running service per file. Default: none. */
  readonly dbFile?: string
  /** Maximum of stored entries, and of stored request logs; the oldest are dropped first. Default 200,000. */
  readonly maxEntries?: number
  /** Maximum bytes of JSON and search text, for entries and for each other kind; they take two to six times that in memory. Default 192 MiB. */
  readonly maxStoreBytes?: number
  /** Maximum age in milliseconds; records that were received longer ago are deleted within a minute. Default: no limit. */
  readonly maxAgeMs?: number
  /** Maximum of recorded requests; the oldest are dropped first. Default 10,000. */
  readonly maxRecordedRequests?: number
  /** Default: the clocks of the system. */
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

const HOSTS: readonly unknown[] = ['127.0.0.1', '::1', 'localhost']

interface Rule {
  /** Completes "must be …". */
  readonly text: string
  readonly isValid: (value: unknown) => boolean
  /** Its value is not shown: it may be a valid key or token followed by a line break. */
  readonly isSecret?: boolean
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
const isInteger = (value: unknown, from: number): boolean => Number.isSafeInteger(value) && (value as number) >= from
const isAbove0 = (value: unknown): boolean => typeof value === 'number' && value > 0
const have = (value: unknown, rules: Readonly<Record<string, (member: unknown) => boolean>>): boolean =>
  isObject(value) && Object.entries(rules).every(([name, isValid]) => isValid(value[name]))

const FLAG: Rule = { text: 'true or false', isValid: (value) => typeof value === 'boolean' }
const COUNT: Rule = { text: 'an integer from 1', isValid: (value) => isInteger(value, 1) }
const FUNCTION: Rule = { text: 'a function', isValid: isFunction }
const SECRETS: Rule = { text: 'a list of texts', isValid: isTexts, isSecret: true }

const RULES: Readonly<Record<keyof IngestServiceOptions, Rule>> = {
  host: {
    text: '127.0.0.1, ::1 or localhost, since the service must not be reachable from outside',
    isValid: (value) => HOSTS.includes(value),
  },
  port: {
    text: 'an integer from 0 to 65535',
    isValid: (value) => isInteger(value, 0) && (value as number) <= 65_535,
  },
  apiKeys: SECRETS,
  token: { text: TOKEN_RULE, isValid: (value) => typeof value === 'string' && isToken(value), isSecret: true },
  monitorTokens: SECRETS,
  partial: FLAG,
  partialStatus: { text: '200 or 422', isValid: (value) => value === 200 || value === 422 },
  dedupeBatches: FLAG,
  maxBodyBytes: COUNT,
  rateLimit: {
    text: '{ requests: an integer from 0, windowMs: above 0 }',
    isValid: (value) => have(value, { requests: (one) => isInteger(one, 0), windowMs: isAbove0 }),
  },
  latencyMs: { text: 'milliseconds from 0', isValid: (value) => Number.isFinite(value) && (value as number) >= 0 },
  dbFile: { text: 'a path', isValid: (value) => typeof value === 'string' && value !== '' },
  maxEntries: COUNT,
  maxStoreBytes: COUNT,
  maxAgeMs: { text: 'milliseconds above 0', isValid: isAbove0 },
  maxRecordedRequests: COUNT,
  clock: {
    text: '{ now, wallNow: functions }',
    isValid: (value) =>
      have(value, { now: isFunction, wallNow: isFunction, timer: (one) => one === undefined || isFunction(one) }),
  },
  onProblem: FUNCTION,
  onRecords: FUNCTION,
}

/** @throws IngestError `CONFIG`, with the option, the rule and the value (never a key or token). */
export function resolveServiceOptions(options: IngestServiceOptions): ResolvedServiceOptions {
  const given = Object.entries(readOptions('createIngestService()', options)).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) check(name, value)
  const resolved: ResolvedServiceOptions = { ...DEFAULTS, token: createRandomToken(), ...Object.fromEntries(given) }
  return { ...resolved, clock: completeClock(resolved.clock) }
}

function check(name: string, value: unknown): void {
  if (!Object.hasOwn(RULES, name))
    throw new IngestError('CONFIG', `unknown option ${name}; known are ${Object.keys(RULES).join(', ')}`)
  const { text, isValid, isSecret = false } = RULES[name as keyof IngestServiceOptions]
  if (isValid(value)) return
  throw new IngestError(
    'CONFIG',
    `${name} must be ${text}; got ${isSecret ? describeType(value) : describeValue(value)}`,
  )
}

function completeClock(clock: ServiceClock): Clock {
  return {
    now: () => clock.now(),
    wallNow: () => clock.wallNow(),
    timer: (delayMs, fire) => clock.timer?.(delayMs, fire) ?? backgroundClock.timer(delayMs, fire),
  }
}
