/** When all is stored that a program had sent before it ended. */
import { request } from 'node:http'
import type { Clock } from '../../shared/clock.js'
import type { IngestService } from '../../service/index.js'

/** A request that a scripted fault holds may never end. */
const MAX_WAIT_MS = 5_000
const LOOK_MS = 10

/**
 * The service reads its connections in turn: when it has answered a new one, it has begun with all that was sent before.
 * @returns whether it is so; false where requests are still open after 5 s
 */
export async function waitUntilIdle(
  { origin, requestsNow }: { readonly origin: string; readonly requestsNow: () => IngestService['requests'] },
  clock: Clock,
): Promise<boolean> {
  const endMs = clock.now() + MAX_WAIT_MS
  for (let seen = -1; clock.now() < endMs;) {
    await roundTrip(origin)
    const calls = requestsNow()
    const isIdle = calls.every(({ endedAt }) => endedAt !== null)
    if (isIdle && calls.length === seen) return true
    seen = calls.length
    if (!isIdle) await new Promise<void>((resolve) => clock.timer(LOOK_MS, resolve))
  }
  return false
}

/** Without a token it is refused, which is an answer too. */
function roundTrip(origin: string): Promise<void> {
  return new Promise((resolve) => {
    request(`${origin}/local/status`, { method: 'HEAD', agent: false, timeout: MAX_WAIT_MS }, (response) =>
      response.resume().once('close', resolve),
    )
      .on('timeout', () => resolve())
      .on('error', () => resolve())
      .end()
  })
}
