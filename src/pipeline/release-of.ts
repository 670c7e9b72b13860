/** What `release: true` is wired to: the registration, the batches that wait for it, the silence that all calls share. */
import type { Channel } from '../channel.js'
import type { Clock } from '../clock.js'
import type { IngestError } from '../errors.js'
import type { Settings } from '../options.js'
import type { Report } from '../report.js'
import { registerOf } from './register.js'
import { ReleaseStart } from './release-start.js'

export interface ReleaseParts {
  readonly settings: Settings
  readonly clock: Clock
  readonly report: Pick<Report, 'problem'>
  /** That of log entries first. Asked for once something is to be sent. */
  readonly channels: () => readonly [Channel, ...Channel[]]
  /** Later entries carry it. */
  readonly onId: (releaseId: string) => void
}

/** Of batches that wait for a release: to stamp them takes 10 ms a MiB. */
const MAX_HELD_BYTES = 4 * 1024 * 1024

/** @returns undefined where no release is to be registered */
export function releaseOf({ settings, clock, report, channels, onId }: ReleaseParts): ReleaseStart | undefined {
  if (!settings.enabled || !settings.release) return undefined
  const onFailure = ({ code, message }: IngestError): void =>
    report.problem(code, `the release is not registered: ${message}; entries go without its id`)
  const register = registerOf({
    settings, clock, heldMs: () => channels()[0].heldMs, onPutOff: onFailure,
    onRetryAfter: (delayMs) => {
      for (const channel of channels()) channel.holdFor(delayMs)
    },
  })
  return new ReleaseStart({
    clock, register, onFailure, maxBytes: Math.min(MAX_HELD_BYTES, settings.maxBufferBytes / 2),
    onId: (releaseId) => {
      channels()[0].seal() // what is open came before the id, and is stamped with the rest
      onId(releaseId)
    },
    deliver: (batch) => channels()[0].deliver(batch),
  })
}
