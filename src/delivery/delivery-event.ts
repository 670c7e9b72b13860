/** What delivery does, as one stream of events. Reports, the debug log and statistics subscribe to it. */
import type { EndpointRejected, Outcome, Refused, Retryable } from '../batch/outcome.js'
import type { FailingHealth } from './health.js'
import type { Job } from './job.js'

export type DeliveryEvent =
  /** A request begins. `limit`: of the requests in flight. */
  | { readonly kind: 'sent'; readonly job: Job; readonly isProbe: boolean; readonly limit: number }
  | { readonly kind: 'replied'; readonly job: Job; readonly outcome: Outcome; readonly tookMs: number }
  /** The service fails, or refuses. `hasAccepted`: whether it ever accepted entries. */
  | {
      readonly kind: 'failed'
      readonly health: FailingHealth
      readonly failure: Refused | Retryable | EndpointRejected
      readonly hasAccepted: boolean
      /** Whether an entry failed that was refused alone before. */
      readonly isRepeated: boolean
      /** Milliseconds until the next attempt. */
      readonly waitMs: number
      /** Whether the process ends before another attempt. */
      readonly isLast: boolean
    }
  /** The service sent a Retry-After. */
  | { readonly kind: 'paused'; readonly failure: Retryable; readonly delayMs: number; readonly isLast: boolean }
  /** The service accepted entries, or named those that it rejects. */
  | { readonly kind: 'accepted' }
  /** Entries have their outcome. `unnamed`: rejected entries that the reply did not name, so that they are not stored. */
  | {
      readonly kind: 'settled'
      readonly job: Job
      readonly accepted: number
      readonly rejected: number
      readonly unnamed: number
    }
