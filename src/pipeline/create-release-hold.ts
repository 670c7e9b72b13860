/** What `release: true` is wired to: the registration, the batches that wait for it, the silence that all calls share. */
import type { EndpointPipeline } from './endpoint-pipeline.js'
import type { Clock } from '../shared/clock.js'
import type { IngestError } from '../shared/errors.js'
import type { Settings } from '../options/resolve-options.js'
import type { Reporter } from '../diagnostics/reporter.js'
import { createRegistration } from './release-registration.js'
import { ReleaseHold } from './release-hold.js'

export interface ReleaseHoldParts {
  readonly settings: Settings
  readonly clock: Clock
  readonly report: Pick<Reporter, 'problem'>
  /** That of log entries first. */
  readonly endpoints: readonly [EndpointPipeline, ...EndpointPipeline[]]
  /** Later entries carry it. */
  readonly onId: (releaseId: string) => void
}

/** Of batches that wait for a release: to stamp them takes 10 ms a MiB. */
const MAX_HELD_BYTES = 4 * 1024 * 1024

/** @returns undefined where no release is to be registered */
export function createReleaseHold({
  settings,
  clock,
  report,
  endpoints,
  onId,
}: ReleaseHoldParts): ReleaseHold | undefined {
  if (!settings.enabled || !settings.release) return undefined
  const [entries] = endpoints
  const onFailure = ({ code, message }: IngestError): void =>
    report.problem(code, `the release is not registered: ${message}; entries go without its id`)
  const register = createRegistration({
    settings,
    clock,
    retryAfterLeftMs: () => entries.breaker.retryAfterLeftMs,
    onPostponed: onFailure,
    onRetryAfter: (delayMs) => {
      for (const { breaker } of endpoints) breaker.applyRetryAfter(delayMs)
    },
  })
  return new ReleaseHold({
    clock,
    register,
    onFailure,
    maxBytes: Math.min(MAX_HELD_BYTES, settings.maxBufferBytes / 2),
    onId: (releaseId) => {
      entries.batcher.seal() // its entries get the id with those that are held
      onId(releaseId)
    },
    deliver: (batch) => entries.add(batch),
  })
}
