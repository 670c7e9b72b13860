/**
 * Simulates a service under load and a client that always has batches to send, as events on a virtual clock without
 * promises or real waits.
 */
import { AdaptiveConcurrencyLimit } from '../../../src/delivery/concurrency/adaptive-concurrency-limit.js'
import type { InFlightRequest } from '../../../src/delivery/concurrency/adaptive-concurrency-limit.js'
import { WaitQueue } from '../../../src/delivery/retry/wait-queue.js'
import { RecentReplies } from '../../../src/delivery/retry/recent-replies.js'

export interface Arrival {
  readonly now: number
  /** Requests at the service, including this one. */
  readonly inFlight: number
  readonly random: () => number
}

export interface Reply {
  readonly ms: number
  /** The service answers 503. */
  readonly refused?: boolean
  readonly retryAfterMs?: number
}

export type SimulatedService = (arrival: Arrival) => Reply

/** Above `capacity` concurrent requests each takes proportionally longer; above `most` it is refused. */
export function createDegradingService(baseMs: number, capacity: number, most = Infinity): SimulatedService {
  return ({ inFlight }) => ({ ms: baseMs * Math.max(1, inFlight / capacity), refused: inFlight > most })
}

/** Serves `capacity` requests at once and queues the others. */
export function createQueueingService(baseMs: number, capacity: number, most = Infinity): SimulatedService {
  const freeAt = Array.from({ length: capacity }, () => 0)
  return ({ now, inFlight }) => {
    if (inFlight > most) return { ms: 1, refused: true }
    const first = freeAt.indexOf(Math.min(...freeAt))
    const at = (freeAt[first] = Math.max(now, freeAt[first] ?? 0) + baseMs)
    return { ms: at - now }
  }
}

/** The same sequence in every run (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A heap by time: the next event is the first. */
class Events {
  readonly #heap: { readonly at: number; readonly fire: () => void }[] = []

  add(at: number, fire: () => void): void {
    const heap = this.#heap
    let index = heap.length
    for (
      let parent = (index - 1) >> 1;
      index > 0 && (heap[parent] as { at: number }).at > at;
      parent = (index - 1) >> 1
    ) {
      heap[index] = heap[parent] as { at: number; fire: () => void }
      index = parent
    }
    heap[index] = { at, fire }
  }

  next(): { readonly at: number; readonly fire: () => void } | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let index = 0
    for (let child = 1; child < heap.length; child = 2 * index + 1) {
      if (child + 1 < heap.length && (heap[child + 1] as { at: number }).at < (heap[child] as { at: number }).at)
        child += 1
      if (last.at <= (heap[child] as { at: number }).at) break
      heap[index] = heap[child] as { at: number; fire: () => void }
      index = child
    }
    heap[index] = last
    return first
  }
}

export interface Load {
  readonly service: SimulatedService
  readonly forMs: number
  readonly maxConcurrency?: number
  readonly seed?: number
  /** Idle time of the client's event loop until `now`. Default: all the time. */
  readonly idleMs?: (now: number) => number
}

export interface SimulationResult {
  /** The limit after each reply. */
  readonly limits: readonly (readonly [at: number, limit: number])[]
  readonly takenAt: readonly number[]
  readonly refusedAt: readonly number[]
  /** The maximum number of requests in flight. */
  readonly peak: number
}

/**
 * Sends for `forMs` and waits after a failure as the circuit breaker does. While other requests are accepted, only
 * the failed batch waits. In an outage all batches wait for a jittered 250 ms, doubled after each failure, or for the
 * `Retry-After`.
 */
export function send({ service, forMs, maxConcurrency = 32, seed = 1, idleMs = (now) => now }: Load): SimulationResult {
  const random = seeded(seed)
  const concurrency = new AdaptiveConcurrencyLimit(maxConcurrency)
  const recent = new RecentReplies()
  const line = new WaitQueue()
  const events = new Events()
  const limits: [number, number][] = []
  const takenAt: number[] = []
  const refusedAt: number[] = []
  let [now, inFlight, nextAttemptAt, failures, peak] = [0, 0, 0, 0, 0]

  function fill(): void {
    while (now >= nextAttemptAt && concurrency.hasCapacity) {
      inFlight += 1
      peak = Math.max(peak, inFlight)
      const flight = concurrency.begin({ now, idleMs: idleMs(now) })
      const reply = service({ now, inFlight, random })
      events.add(now + reply.ms, () => end(flight, reply))
    }
  }

  function end(flight: InFlightRequest, { refused = false, retryAfterMs = 0 }: Reply): void {
    inFlight -= 1
    const isCurrent = concurrency.end(flight, { now, idleMs: idleMs(now) })
    if (refused) {
      refusedAt.push(now)
      if (retryAfterMs > 0) nextAttemptAt = Math.max(nextAttemptAt, now + retryAfterMs * (1 + 0.1 * random()))
      if (
        isCurrent &&
        retryAfterMs === 0 &&
        !recent.recordFailure(line.createRetryState({ batchId: 'b', count: 1 }, -Infinity, 0))
      ) {
        concurrency.singleFailure(flight)
      } else if (isCurrent) {
        nextAttemptAt = Math.max(nextAttemptAt, now + random() * Math.min(5_000, 250 * 2 ** failures++))
        concurrency.failed(nextAttemptAt - now, flight)
      }
      events.add(nextAttemptAt, fill)
    } else {
      takenAt.push(now)
      if (isCurrent) {
        failures = 0
        recent.recordSuccess()
        concurrency.succeeded(flight)
      }
    }
    limits.push([now, concurrency.limit])
    fill()
  }

  fill()
  for (let event = events.next(); event !== undefined && event.at <= forMs; event = events.next()) {
    now = event.at
    event.fire()
  }
  return { limits, takenAt, refusedAt, peak }
}

/** The minimum and maximum limit in a period. */
export function rangeOf(
  { limits }: SimulationResult,
  from: number,
  to = Infinity,
): { readonly least: number; readonly most: number } {
  let [least, most] = [Infinity, 0]
  for (const [at, limit] of limits) {
    if (at < from || at >= to) continue
    least = Math.min(least, limit)
    most = Math.max(most, limit)
  }
  return { least, most }
}

/** The mean limit over a period. */
export function meanLimit({ limits }: SimulationResult, from: number, to: number): number {
  let sum = 0
  let [since, held] = [from, 1]
  for (const [at, limit] of limits) {
    if (at > to) break
    if (at > since) {
      sum += held * (at - since)
      since = at
    }
    held = limit
  }
  return (sum + held * (to - since)) / (to - from)
}

/** Requests per millisecond in a period. */
export function rateOf(times: readonly number[], from: number, to: number): number {
  return times.filter((at) => at >= from && at < to).length / (to - from)
}

/** The time at which the limit was first reached. */
export function reachedAt({ limits }: SimulationResult, wanted: number, from = 0): number {
  return limits.find(([at, limit]) => at >= from && limit >= wanted)?.[0] ?? Infinity
}
