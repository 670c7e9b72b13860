/** `release: true`: registers the release with the transport's settings and clock. */
import type { DetectedReleaseOptions } from '../client/release/register-detected-release.js'
import { revealAll } from '../options/secret.js'
import type { Settings } from '../options/settings.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'

export interface RegistrationOptions {
  readonly settings: Settings
  readonly clock: Clock
  /** Milliseconds during which no request with the key may be sent. */
  readonly retryAfterLeftMs: () => number
  /**
   * Called when the service sends a Retry-After. It applies to all requests with the key, so `retryAfterLeftMs` must
   * include it.
   */
  readonly onRetryAfter: (delayMs: number) => void
  /** Called if the Retry-After ends after the time for which entries are buffered. */
  readonly onPostponed: (error: IngestError) => void
}

/** In-process, a request keeps the process alive; entries are buffered for at most this time. */
const MAX_REQUEST_MS = 5_000
const MIN_REPORTED_MS = 5_000

/**
 * Makes one attempt, and another after a Retry-After. With more attempts, each rejection would buffer the entries again.
 * @returns a function that resolves to the id. It rejects like `registerRelease`, or with `ABORTED` if `signal` ends a
 * wait
 */
export function createRegistration({
  settings,
  clock,
  retryAfterLeftMs,
  onRetryAfter,
  onPostponed,
}: RegistrationOptions): (signal: AbortSignal) => Promise<string> {
  return async (signal) => {
    let hasRetryAfter = false
    const hooks = {
      clock,
      onRetryAfter: (delayMs: number): void => {
        hasRetryAfter = true
        onRetryAfter(delayMs)
      },
    }
    // Loaded on demand, because it loads the client and child_process, which other workers do not need.
    const { registerDetectedRelease } = await import('../client/release/register-detected-release.js')
    const attempt = async (): Promise<string> => {
      while (retryAfterLeftMs() > 0) await wait(retryAfterLeftMs(), clock, signal)
      return registerDetectedRelease({ ...toReleaseOptions(settings), signal }, hooks)
    }
    try {
      return await attempt()
    } catch (error) {
      if (!hasRetryAfter || signal.aborted || !(error instanceof IngestError)) throw error
      if (retryAfterLeftMs() >= MIN_REPORTED_MS) onPostponed(error)
    }
    return attempt()
  }
}

function toReleaseOptions(settings: Settings): DetectedReleaseOptions {
  const {
    url,
    apiKey,
    headers,
    isLocalDefault,
    allowInsecure,
    tls,
    proxy,
    noProxy,
    requestTimeoutMs,
    version,
    deploy,
  } = settings
  return {
    allowInsecure,
    tls,
    version,
    maxAttempts: 1,
    requestTimeoutMs: Math.min(requestTimeoutMs, MAX_REQUEST_MS),
    commit_hash: deploy?.commit,
    branch: deploy?.branch,
    deployed_by: deploy?.deployed_by,
    ...(!isLocalDefault && { url, apiKey: apiKey.reveal(), headers: revealAll(headers) }),
    // With exceptions (`noProxy`), the proxy is from the environment, which the client reads itself.
    ...(noProxy === '' && { proxy }),
  }
}

function wait(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      cancel()
      reject(new IngestError('ABORTED', 'the registration of the release was aborted', { cause: signal.reason }))
    }
    const cancel = clock.timer(delayMs, () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
  })
}
