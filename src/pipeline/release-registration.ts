/**
 * Registers the release of a transport that was told to, by the transport's own settings. The transport goes before: one
 * short request, none while the service has asked for silence, and no timer of its own that keeps the process alive.
 */
import { findAndRegisterRelease } from '../app/releases/register-release.js'
import type { RegisterReleaseOptions } from '../app/releases/register-release.js'
import type { Clock } from '../shared/clock.js'
import { IngestError } from '../shared/errors.js'
import type { Settings } from '../options/resolve-options.js'

export interface RegistrationOptions {
  readonly settings: Settings
  /** The pipeline's. */
  readonly clock: Clock
  /** Milliseconds for which nothing may be sent that carries the key. */
  readonly retryAfterLeftMs: () => number
  /** The service asks for silence. It holds for everything that carries the key: `heldMs` is to count it from now on. */
  readonly onRetryAfter: (delayMs: number) => void
  /** It was told to come back later than entries are held back for its id. */
  readonly onPostponed: (error: IngestError) => void
}

/** In-process a request keeps the process alive; entries are held back for no longer either. */
const MAX_REQUEST_MS = 5_000
const TELL_FROM_MS = 5_000

/**
 * One attempt, and another where the service names a time for it. More would keep the entries silent with each refusal.
 * @returns the id. Rejects as `registerRelease`, and with `ABORTED` where `signal` ends a wait
 */
export function createRegistration(options: RegistrationOptions): (signal: AbortSignal) => Promise<string> {
  const { settings, clock, retryAfterLeftMs: heldMs, onRetryAfter, onPostponed: onPutOff } = options
  return async (signal) => {
    let isAskedBack = false
    const attempt = async (): Promise<string> => {
      while (heldMs() > 0) await wait(heldMs(), clock, signal)
      return findAndRegisterRelease(
        { ...releaseOptions(settings), signal },
        {
          clock,
          onRetryAfter: (delayMs) => {
            isAskedBack = true
            onRetryAfter(delayMs)
          },
        },
      )
    }
    try {
      return await attempt()
    } catch (error) {
      if (!isAskedBack || signal.aborted || !(error instanceof IngestError)) throw error
      if (heldMs() >= TELL_FROM_MS) onPutOff(error)
    }
    return attempt()
  }
}

function releaseOptions(settings: Settings): RegisterReleaseOptions {
  const { url, apiKey, isLocalDefault, allowInsecure, tls, proxy, noProxy, requestTimeoutMs, version, deploy } =
    settings
  return {
    allowInsecure,
    tls,
    version,
    maxAttempts: 1,
    requestTimeoutMs: Math.min(requestTimeoutMs, MAX_REQUEST_MS),
    commit_hash: deploy?.commit,
    branch: deploy?.branch,
    deployed_by: deploy?.deployed_by,
    ...(!isLocalDefault && { url, apiKey: apiKey.reveal() }),
    // With exceptions it came from the environment, where the client finds both.
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
