/** Lists what can be compared, and describes the differences between two sides (pure). */
import type { ReleaseSide, RouteComparison, RunSummary, VersionSummary } from '../../query/api-types.js'
import { addTerm, excludeValues } from '../../query/language/index.js'
import { formatCount, formatDuration, formatPercent, formatShortTime } from '../view-format.js'

export interface Side {
  /** The query for its entries, also in the address. */
  readonly query: string
  readonly text: string
  /** Versions of one service, or runs of one service; a side is compared by default with its predecessor in the series. */
  readonly series: string
}

/** Versions, then runs, newest first. */
export function listSides(versions: readonly VersionSummary[], runs: readonly RunSummary[]): readonly Side[] {
  return [
    ...versions.map(({ service, version }) => ({
      query: addTerm(
        service === null ? excludeValues('', 'service') : addTerm('', 'service', service),
        'version',
        version,
      ),
      text: `${service ?? ''} ${version}`.trim(),
      series: `versions of ${service}`,
    })),
    ...runs.map(({ run, service, hostname, pid, first_seen: at }) => ({
      query: addTerm('', 'run', run),
      text: `${service ?? ''} started ${formatShortTime(at).slice(0, 8)} (pid ${pid})`.trim(),
      series: `runs of ${service} on ${hostname}`,
    })),
  ]
}

export function findPredecessor(sides: readonly Side[], query: string | null): Side | undefined {
  const at = sides.findIndex((side) => side.query === query)
  return sides.slice(at + 1).find(({ series }) => series === sides[at]?.series)
}

/** The newest side that followed another one. */
export function findNewest(sides: readonly Side[]): Side | undefined {
  return sides.find(({ query }) => findPredecessor(sides, query) !== undefined)
}

type Verdict = 'worse' | 'better' | 'same'

export interface ComparisonRow {
  readonly name: string
  readonly service?: string
  readonly before: string
  readonly after: string
  /** Empty if a side has no data. */
  readonly change: string
  readonly verdict: Verdict
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

/** Sorts routes by increase in latency, greatest first; routes on only one side come last. */
export function compareRoutes(routes: readonly RouteComparison[]): readonly ComparisonRow[] {
  const growth = ({ before, after }: RouteComparison): number =>
    before === null || after === null ? -Infinity : after.p95_ms - before.p95_ms
  return routes
    .map((route) => ({ growth: growth(route), row: toRow(route) }))
    .toSorted((a, b) =>
      a.growth === b.growth
        ? a.row.name.localeCompare(b.row.name) || compareServices(a.row, b.row)
        : b.growth - a.growth,
    )
    .map(({ row }) => row)
}

function toRow({ service, method, route, before, after }: RouteComparison): ComparisonRow {
  return {
    name: `${method} ${route}`,
    service: service ?? '',
    before: latencyText(before?.p95_ms ?? null),
    after: latencyText(after?.p95_ms ?? null),
    ...(before === null || after === null
      ? { change: before === null ? 'new' : 'gone', verdict: 'same' as const }
      : compareLatency(before.p95_ms, after.p95_ms)),
  }
}

function compareServices(a: ComparisonRow, b: ComparisonRow): number {
  return (a.service ?? '').localeCompare(b.service ?? '')
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
