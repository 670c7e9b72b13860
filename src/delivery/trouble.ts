/** What the user is told about a service that fails: enough to mend it, and nothing of a hiccup that mends itself. */
import type { IngestErrorCode } from '../errors.js'
import type { Report } from '../report.js'
import type { Later, Misconfigured } from '../sender.js'
import type { GateOptions } from './gate.js'

/** An outage this long, or known to become this long, is told. */
const TELL_FROM_MS = 5000

/** @returns the two callbacks of a `Gate` */
export function troubleTeller(
  report: Pick<Report, 'problem' | 'note'>,
): Required<Pick<GateOptions, 'onTrouble'>> & { onRecovery(outageAgeMs: number): void } {
  const told = new Set<IngestErrorCode>()
  return {
    onTrouble(trouble, outageAgeMs, waitMs) {
      const code = codeOf(trouble)
      if (trouble.kind === 'later' && outageAgeMs + waitMs < TELL_FROM_MS) return
      // It lasts until somebody mends it: a line at every probe would only fill the log.
      if (trouble.kind === 'misconfigured' && told.has(code)) return
      told.add(code)
      const next = `entries are kept, next attempt in ${seconds(waitMs)} s`
      report.problem(code, `${headline(trouble)}: ${trouble.reason}; ${next}`, trouble.status)
    },
    onRecovery(outageAgeMs) {
      if (told.size === 0) return
      told.clear()
      report.note('recovered', `the service takes entries again, after ${seconds(outageAgeMs)} s`)
    },
  }
}

function codeOf({ kind, status }: Later | Misconfigured): IngestErrorCode {
  if (kind === 'later') return status === 429 ? 'RATE_LIMITED' : 'UNAVAILABLE'
  if (status === 400 || status === 413 || status === 422) return 'REJECTED'
  return status === 401 || status === 403 ? 'AUTH' : 'MISDIRECTED'
}

function headline(trouble: Later | Misconfigured): string {
  const code = codeOf(trouble)
  if (code === 'AUTH') return `the service refuses the key (status ${trouble.status}), check apiKey`
  if (code === 'REJECTED') return `the service, or a gateway before it, refuses whatever it is sent (status ${trouble.status}), check url`
  if (trouble.status === undefined && trouble.kind === 'misconfigured') return 'the local service cannot be used'
  if (code === 'MISDIRECTED') return `the url is not that of the service (status ${trouble.status}), check url`
  return code === 'RATE_LIMITED' ? 'the service limits the rate of requests' : 'the service does not take entries'
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}
