/** Waits until all requests of an ended program are handled. */
import { request } from 'node:http'
import type { Clock } from '../../shared/clock.js'
import type { IngestService } from '../../service/index.js'

/** A scripted fault may leave a request open forever. */
const MAX_WAIT_MS = 5_000
const POLL_MS = 10

/**
 * The service accepts connections in order, so a reply on a new connection shows that all earlier connections were accepted.
 * @returns false if requests are still open after 5 s
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
    if (!isIdle) await new Promise<void>((resolve) => clock.timer(POLL_MS, resolve))
  }
  return false
}

/** Without a token the service replies 401, which is sufficient. */
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
