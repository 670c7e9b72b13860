/** What is known about the service, as one value. Every reply changes it, by one pure function. */
import { computeDelayMs } from '../shared/backoff.js'
import type { RetrySettings } from '../options/settings.js'

export type FailingHealth = Extract<Health, { kind: 'down' | 'denied' }>
type Recovering = Extract<Health, { kind: 'recovering' }>

export type Health =
  /** Nothing was accepted yet: one request at a time. */
  | { readonly kind: 'unproven' }
  /** `recent`: the latest 32 replies, a bit each, set for a failure. */
  | { readonly kind: 'working'; readonly recent: number; readonly rate: Rate }
  /** No connection, timeout, 408, 425, 429, 5xx. `usualPerMs`: requests accepted before; undefined if that is not known. */
  | {
      readonly kind: 'down'
      readonly since: number
      readonly failures: number
      readonly reason: string
      readonly probeAt: number
      readonly usualPerMs: number | undefined
    }
  /** The key, the URL, a gateway or one payload is the cause; probes with other entries show which. */
  | {
      readonly kind: 'denied'
      readonly since: number
      readonly refusals: number
      readonly reason: string
      readonly probeAt: number
    }
  /** After `down`: all clients return at the same time, each with a backlog, so the rate is limited. */
  | {
      readonly kind: 'recovering'
      readonly perMs: number
      readonly until: number
      readonly nextAt: number
      readonly usualPerMs: number
    }

/** Accepted requests, as a decaying count. */
interface Rate {
  readonly count: number
  readonly countedAt: number
  readonly since: number
}

export type HealthEvent =
  /** A request begins. */
  | { readonly kind: 'sent' }
  /** The service accepted entries, or named those that it rejects. `isCaughtUp`: nothing waits. */
  | { readonly kind: 'accepted'; readonly isCaughtUp: boolean }
  /** A reply that names no entry. `isRepeated`: to an entry that was refused alone before, which shows nothing new. */
  | { readonly kind: 'refused'; readonly reason: string; readonly startedAt: number; readonly isRepeated: boolean }
  /** `isOutage`: no other request shows that the service works. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly startedAt: number; readonly isOutage: boolean }
  /** A flush: the next probe begins within this time. */
  | { readonly kind: 'hurried'; readonly withinMs: number }
  /** The process ends: the backoff begins anew, and no rate is limited. */
  | { readonly kind: 'ending' }

export interface HealthContext {
  readonly now: number
  /** In [0, 1). */
  readonly random: () => number
  readonly retry: RetrySettings
}

/** More failures than this among the latest 32 replies are an outage. */
const MOST_FAILURES = 16
/** Pauses before the probes of a service that refuses, in seconds: several payloads in a row may be bad. */
const QUICK_PROBES_S = [0, 1, 2, 4]
/** A wrong key or URL is rarely corrected within minutes, and every probe counts against the rate limit. */
const PROBE_INTERVAL_MS = 60_000
/** Multiple of the usual rate after an outage. All clients together stay below twice their usual rate. */
const RECOVERY_RATE_FACTOR = 1.7
/** A client that logs continuously sends one batch per second; one that logs less may send as many. */
const LEAST_PER_MS = 1 / 1_000
/** The backlog of an outage is sent within 1.5 times its length at that rate. */
const RECOVERY_TIME_FACTOR = 1.5
const MAX_LIMITED_MS = 300_000
/** Afterwards the rate doubles at this interval, up to one request per millisecond. */
const DOUBLES_EVERY_MS = 5_000
/** Time constant of the usual rate. */
const RATE_TIME_CONSTANT_MS = 30_000
/** The rate at the start of an application is not typical. */
const LEAST_KNOWN_MS = 5_000

export const UNPROVEN: Health = { kind: 'unproven' }

export function step(health: Health, event: HealthEvent, context: HealthContext): Health {
  switch (event.kind) {
    case 'accepted':
      return accept(health, event.isCaughtUp, context)
    case 'refused':
      return refuse(health, event, context)
    case 'unavailable':
      return fail(health, event, context)
    case 'sent':
      return health.kind === 'recovering' ? { ...health, nextAt: context.now + jitteredMs(health, context) } : health
    case 'hurried':
      return hurry(health, context.now + event.withinMs)
    case 'ending':
      if (health.kind === 'down') return { ...health, failures: 0, probeAt: context.now, usualPerMs: undefined }
      return health.kind === 'recovering' ? resume(health, context) : hurry(health, context.now)
  }
}

/** The earliest time of the next request. */
export function nextRequestAt(health: Health): number {
  if (isFailing(health)) return health.probeAt
  return health.kind === 'recovering' ? health.nextAt : -Infinity
}

/** The reason for which nothing but probes is sent. */
export function reasonOf(health: Health): string | undefined {
  return isFailing(health) ? health.reason : undefined
}

export function isFailing(health: Health): health is FailingHealth {
  return health.kind === 'down' || health.kind === 'denied'
}

/** Whether other entries than probes are sent. */
export function isWorking({ kind }: Health): boolean {
  return kind === 'working' || kind === 'recovering'
}

function accept(health: Health, isCaughtUp: boolean, context: HealthContext): Health {
  const { now, random } = context
  switch (health.kind) {
    case 'working':
      return { kind: 'working', recent: health.recent << 1, rate: count(health.rate, now) }
    case 'down': {
      const { usualPerMs, since } = health
      if (usualPerMs === undefined) return begin(now)
      const perMs = Math.max(RECOVERY_RATE_FACTOR * usualPerMs, LEAST_PER_MS)
      const until = now + Math.min(RECOVERY_TIME_FACTOR * (now - since), MAX_LIMITED_MS)
      // Random, so that the clients of a service do not return in step.
      const limited: Recovering = { kind: 'recovering', perMs, until, nextAt: now + random() / perMs, usualPerMs }
      return isCaughtUp ? resume(limited, context) : limited
    }
    case 'recovering':
      return isCaughtUp || intervalMs(health, now) <= 1 ? resume(health, context) : health
    case 'unproven':
    case 'denied':
      return begin(now)
  }
}

function refuse(
  health: Health,
  { reason, startedAt, isRepeated }: Extract<HealthEvent, { kind: 'refused' }>,
  { now }: HealthContext,
): Health {
  const since = isFailing(health) ? health.since : startedAt
  const refusals = health.kind === 'denied' ? health.refusals + Number(!isRepeated) : 1
  const quickS = QUICK_PROBES_S[refusals - 1]
  const probeAt = now + (quickS === undefined ? PROBE_INTERVAL_MS : quickS * 1_000)
  return { kind: 'denied', since, refusals, reason, probeAt }
}

function fail(
  health: Health,
  { reason, startedAt, isOutage }: Extract<HealthEvent, { kind: 'unavailable' }>,
  { now, random, retry }: HealthContext,
): Health {
  if (health.kind === 'working') {
    const recent = (health.recent << 1) | 1
    if (!isOutage && countBits(recent) <= MOST_FAILURES) return { ...health, recent }
  }
  if (health.kind === 'recovering' && !isOutage) return health
  const since = isFailing(health) ? health.since : startedAt
  const failures = health.kind === 'down' ? health.failures + 1 : 1
  const delayMs = computeDelayMs({ attempt: failures, outageAgeMs: now - since, retry, random })
  return {
    kind: 'down',
    since,
    failures,
    reason,
    probeAt: now + delayMs,
    usualPerMs: usual(health, now),
  }
}

function hurry(health: Health, at: number): Health {
  if (health.kind === 'recovering') return { ...health, nextAt: Math.min(health.nextAt, at) }
  if (!isFailing(health)) return health
  return { ...health, probeAt: Math.min(health.probeAt, at) }
}

function begin(now: number): Health {
  return { kind: 'working', recent: 0, rate: { count: 0, countedAt: now, since: now } }
}

/** Ends the limit. The count continues with the usual rate, as if there had been no outage. */
function resume({ usualPerMs }: Recovering, { now }: HealthContext): Health {
  const rate = { count: usualPerMs * RATE_TIME_CONSTANT_MS, countedAt: now, since: -Infinity }
  return { kind: 'working', recent: 0, rate }
}

function count(rate: Rate, now: number): Rate {
  return { count: decayed(rate, now) + 1, countedAt: now, since: rate.since }
}

function decayed({ count: counted, countedAt }: Rate, now: number): number {
  return counted * Math.exp((countedAt - now) / RATE_TIME_CONSTANT_MS)
}

function usual(health: Health, now: number): number | undefined {
  if (health.kind === 'down' || health.kind === 'recovering') return health.usualPerMs
  if (health.kind !== 'working' || now - health.rate.since < LEAST_KNOWN_MS) return undefined
  return (
    decayed(health.rate, now) /
    (RATE_TIME_CONSTANT_MS * (1 - Math.exp((health.rate.since - now) / RATE_TIME_CONSTANT_MS)))
  )
}

function intervalMs({ perMs, until }: Recovering, now: number): number {
  return 1 / (perMs * 2 ** (Math.max(now - until, 0) / DOUBLES_EVERY_MS))
}

/** Between 0.8 and 1.2 of the interval. */
function jitteredMs(health: Recovering, { now, random }: HealthContext): number {
  return intervalMs(health, now) * (0.8 + 0.4 * random())
}

function countBits(bits: number): number {
  let left = bits >>> 0
  let set = 0
  for (; left !== 0; left &= left - 1) set += 1
  return set
}
