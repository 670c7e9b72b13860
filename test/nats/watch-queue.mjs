/** Polls the servers' monitoring: number of published and queued batches, and the longest pause between publishes. */
import { setTimeout as sleep } from 'node:timers/promises'

const EVERY_MS = 100

/** @param {import('./nats-servers.mjs').NatsServers} servers @param {string} [stream] */
export function watchQueue(servers, stream = 'PINO_INGEST') {
  let isStopped = false
  let messages = 0
  let published = 0
  let publishedAt = performance.now()
  let longestMs = 0
  const run = async () => {
    while (!isStopped) {
      const states = (await Promise.all(servers.nodes.map((node) => node.streamState(stream)))).filter(
        (state) => state !== undefined,
      )
      // A node that has just restarted may lag.
      const last = Math.max(published, ...states.map(({ lastSequence }) => lastSequence))
      const now = performance.now()
      // Not counted until the applications have started.
      if (published > 0) longestMs = Math.max(longestMs, now - publishedAt)
      if (last > published) publishedAt = now
      published = last
      const leading = states.find(({ isLeader }) => isLeader)
      if (leading !== undefined) ({ messages } = leading)
      await sleep(EVERY_MS)
    }
  }
  void run()
  /** @param {() => boolean} condition @param {number} timeoutMs @param {string} what */
  const until = async (condition, timeoutMs, what) => {
    const endsAt = performance.now() + timeoutMs
    while (!condition()) {
      if (performance.now() > endsAt) throw new Error(`${what} not within ${timeoutMs / 1000} s`)
      await sleep(EVERY_MS)
    }
  }
  return {
    /** Resolves when more batches were published; the first may have been in flight. @param {number} timeoutMs */
    publishes(timeoutMs) {
      const from = published
      return until(() => published > from + 1, timeoutMs, 'another batch was published')
    },
    /** Resolves when the queue is empty. @param {number} timeoutMs */
    isEmpty: (timeoutMs) => until(() => messages === 0, timeoutMs, 'the queue was empty'),
    /** Number of batches. */
    waiting: () => messages,
    /** Longest time without a new batch since the last call, in milliseconds. */
    longestPauseMs() {
      const pause = published === 0 ? 0 : Math.max(longestMs, performance.now() - publishedAt)
      longestMs = 0
      publishedAt = performance.now()
      return pause
    },
    stop() {
      isStopped = true
    },
  }
}
