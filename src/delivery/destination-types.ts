/** Types of a destination: the service or NATS. */
import type { Sender } from '../batch/sender.js'
import type { Settings } from '../options/settings.js'
import type { Clock } from '../shared/clock.js'

export interface Destination {
  /** Sends the batches of entries: one attempt a call. */
  readonly entries: Sender
  readonly requestLogs: Sender
  /** Loads the modules that attempts need, so the first attempt does not wait for them. */
  prepare(): void
  /** Closes all connections. Attempts in progress and later ones fail. */
  close(): Promise<void>
  /** Calls `listener` when the largest accepted body is known, and when that changes. One listener. */
  onMaxBodyBytes(listener: (bytes: number) => void): void
}

export interface DestinationOptions {
  readonly settings: Settings
  readonly clock: Clock
  /** Removes secrets from the text of a reply. */
  readonly mask: (text: string) => string
  /** Whether it runs in the application's thread, where an open connection keeps the process alive. Default false. */
  readonly isInProcess?: boolean
}
