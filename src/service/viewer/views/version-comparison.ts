/** Describes the differences between two versions (pure). */
import type { ReleaseSide, RouteComparison } from '../../query/api-types.js'
import { formatCount, formatDuration, formatPercent } from '../view-format.js'

export type Verdict = 'worse' | 'better' | 'same'

export interface ComparisonRow {
  readonly name: string
  readonly before: string
  readonly after: string
  /** Empty if a version has no data. */
  readonly change: string
  readonly verdict: Verdict
}

export interface RouteRow extends ComparisonRow {
  readonly service: string
  readonly method: string
  readonly route: string
}

const NONE = '–'

/** Smaller differences in the number of errors may be chance. */
const MIN_ERRORS = 3
const MIN_RATIO = 1.5
const MIN_LATENCY_RATIO = 1.2
const MIN_LATENCY_MS = 5

export function compareSides(before: ReleaseSide, after: ReleaseSide): readonly ComparisonRow[] {
  return [
    {
      name: 'Error rate of entries',
      before: rateText(before.errors, before.entries),
      after: rateText(after.errors, after.entries),
      ...compareRates(
        before.entries === 0 ? null : before.error_rate,
        after.entries === 0 ? null : after.error_rate,
        Math.abs(before.errors - after.errors),
      ),
    },
    {
      name: 'Error rate of requests (5xx)',
      before:
        before.requests === 0 ? NONE : `${formatPercent(before.request_error_rate)} of ${formatCount(before.requests)}`,
      after:
        after.requests === 0 ? NONE : `${formatPercent(after.request_error_rate)} of ${formatCount(after.requests)}`,
      ...compareRates(
        before.requests === 0 ? null : before.request_error_rate,
        after.requests === 0 ? null : after.request_error_rate,
        Math.abs(before.requests * before.request_error_rate - after.requests * after.request_error_rate),
      ),
    },
    {
      name: 'p95 of requests',
      before: latencyText(before.p95_ms),
      after: latencyText(after.p95_ms),
      ...compareLatency(before.p95_ms, after.p95_ms),
    },
  ]
}

/** Sorts routes by increase in latency, greatest first; routes in only one version come last. */
export function compareRoutes(routes: readonly RouteComparison[]): readonly RouteRow[] {
  const growth = ({ before, after }: RouteComparison): number =>
    before === null || after === null ? -Infinity : after.p95_ms - before.p95_ms
  return routes
    .toSorted((a, b) => {
      const [first, second] = [growth(a), growth(b)]
      return first === second
        ? nameOf(a).localeCompare(nameOf(b)) || (a.service ?? '').localeCompare(b.service ?? '')
        : second - first
    })
    .map((one): RouteRow => ({
      name: nameOf(one),
      service: one.service ?? '',
      method: one.method,
      route: one.route,
      before: latencyText(one.before?.p95_ms ?? null),
      after: latencyText(one.after?.p95_ms ?? null),
      ...(one.before === null || one.after === null
        ? { change: one.before === null ? 'new' : 'gone', verdict: 'same' as const }
        : compareLatency(one.before.p95_ms, one.after.p95_ms)),
    }))
}

function nameOf({ method, route }: RouteComparison): string {
  return `${method} ${route}`
}

function rateText(errors: number, entries: number): string {
  return entries === 0 ? NONE : `${formatPercent(errors / entries)} (${formatCount(errors)} of ${formatCount(entries)})`
}

function latencyText(ms: number | null): string {
  return ms === null ? NONE : formatDuration(ms)
}

type Difference = Pick<ComparisonRow, 'change' | 'verdict'>

function compareRates(before: number | null, after: number | null, errors: number): Difference {
  if (before === null || after === null) return { change: '', verdict: 'same' }
  const points = (after - before) * 100
  const change = `${signed(points, Math.abs(points) < 10 ? 1 : 0)} points`
  if (errors < MIN_ERRORS) return { change, verdict: 'same' }
  return { change, verdict: after > before * MIN_RATIO ? 'worse' : before > after * MIN_RATIO ? 'better' : 'same' }
}

function compareLatency(before: number | null, after: number | null): Difference {
  if (before === null || after === null) return { change: '', verdict: 'same' }
  const ms = after - before
  const share = before > 0 ? ` (${signed((ms / before) * 100, 0)} %)` : ''
  const change = `${ms > 0 ? '+' : ms < 0 ? '−' : '±'}${formatDuration(Math.abs(ms))}${share}`
  if (Math.abs(ms) < MIN_LATENCY_MS) return { change, verdict: 'same' }
  const isWorse = after > before * MIN_LATENCY_RATIO
  return { change, verdict: isWorse ? 'worse' : before > after * MIN_LATENCY_RATIO ? 'better' : 'same' }
}

function signed(value: number, digits: number): string {
  const text = String(Number(Math.abs(value).toFixed(digits)))
  return text === '0' ? '±0' : `${value < 0 ? '−' : '+'}${text}`
}
