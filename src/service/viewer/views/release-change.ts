/** Describes the change of errors after a release (pure). */
import type { ReleaseHealth } from '../../query/api-types.js'
import { formatCount, formatDuration, formatPlural } from '../view-format.js'

export interface Change {
  /** `3 errors in the hour before, 41 after`. */
  readonly text: string
  readonly verdict: 'worse' | 'better' | 'same'
  /** `3 errors among 1,200 entries`. */
  readonly before: string
  readonly after: string
  /** Share of errors on each side, 0 to 1; null if a side has no entries. */
  readonly shares: { readonly before: number; readonly after: number } | null
}

const HOUR_MS = 3_600_000
/** Smaller differences in the number of errors may be chance. */
const MIN_DIFFERENCE = 3
const MIN_RATIO = 1.5

export function computeChange({
  before,
  after,
  window_ms: windowMs,
}: Pick<ReleaseHealth, 'before' | 'after' | 'window_ms'>): Change {
  const isComparable = before.entries > 0 && after.entries > 0
  const shares = isComparable ? { before: before.errors / before.entries, after: after.errors / after.entries } : null
  const span =
    windowMs === HOUR_MS ? 'the hour' : `the ${formatDuration(Math.max(1_000, Math.round(windowMs / 1_000) * 1_000))}`
  const errorsAfter = after.entries === 0 ? 'nothing logged' : after.errors === 0 ? 'none' : formatCount(after.errors)
  return {
    text:
      before.entries === 0
        ? `Nothing logged in ${span} before, ${formatPlural(after.errors, 'error')} after`
        : `${before.errors === 0 ? 'No errors' : formatPlural(before.errors, 'error')} in ${span} before, ${errorsAfter} after`,
    // If entries increased in proportion, the additional errors come from traffic and not from the release.
    verdict: shares === null ? 'same' : verdictOf(before.errors, after.errors, shares.after - shares.before),
    before: among(before),
    after: among(after),
    shares,
  }
}

function among({ entries, errors }: { readonly entries: number; readonly errors: number }): string {
  return `${formatPlural(errors, 'error')} among ${formatPlural(entries, 'entry', 'entries')}`
}

function verdictOf(before: number, after: number, shareGrowth: number): Change['verdict'] {
  if (Math.abs(after - before) < MIN_DIFFERENCE) return 'same'
  if (after > before * MIN_RATIO && shareGrowth > 0) return 'worse'
  return before > after * MIN_RATIO && shareGrowth < 0 ? 'better' : 'same'
}
