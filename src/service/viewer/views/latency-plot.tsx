/** Plots a route's latency over time: three percentiles as lines, requests and errors as bars below. */
import { useMemo } from 'preact/hooks'
import type { RouteLatency } from '../../query/api-types.js'
import { createDurationScale } from '../plot-scale.js'
import { Plot, PlotTable } from '../plot.js'
import type { Buckets } from '../plot-scale.js'
import type { BarPlace } from '../plot.js'
import { formatCount, formatDuration, formatPlural, formatShortTime } from '../view-format.js'

const SERIES = [
  ['p50_ms', 'p50'],
  ['p95_ms', 'p95'],
  ['p99_ms', 'p99'],
] as const

type Bucket = RouteLatency['buckets'][number]

export function toBuckets({ buckets, step_ms: stepMs }: RouteLatency): Buckets {
  return { sinceMs: Date.parse(buckets[0]?.at ?? ''), stepMs, count: buckets.length }
}

/** The plot. A click selects the time of a bucket; the table has links for this. */
export function LatencyPlot({
  latency,
  name,
  onChoose,
}: {
  readonly latency: RouteLatency
  readonly name: string
  readonly onChoose: (bucket: number) => void
}) {
  const { buckets } = latency
  const lines = useMemo(
    () => SERIES.map(([key, text]) => ({ key, class: text, values: buckets.map((one) => one[key]) })),
    [latency],
  )
  const drawn = useMemo(() => toBuckets(latency), [latency])
  const most = Math.max(1, ...buckets.map((one) => one.count))
  return (
    <>
      <ul class="legend" aria-hidden="true">
        {SERIES.map(([, text]) => (
          <li key={text} class={text}>
            {text}
          </li>
        ))}
        <li class="requests">requests</li>
        <li class="errors">errors (5xx)</li>
      </ul>
      <Plot
        label={formatSummary(buckets, name)}
        height={260}
        barsHeight={38}
        buckets={drawn}
        lines={lines}
        createScale={createDurationScale}
        formatTick={formatDuration}
        drawBar={(bucket, place) => drawRequests(buckets[bucket] as Bucket, most, place)}
        describe={(bucket) => describeRequests(buckets[bucket] as Bucket)}
        onChoose={onChoose}
      />
    </>
  )
}

function drawRequests({ at, count, errors }: Bucket, most: number, { x, width, top, bottom }: BarPlace) {
  if (count === 0) return null
  const all = Math.max(1.5, (count / most) * (bottom - top))
  const failed = errors === 0 ? 0 : Math.max(2, (all * errors) / count)
  return (
    <g key={at}>
      <rect class="requests" x={x} y={bottom - all} width={width} height={all} />
      {failed > 0 && <rect class="errors" x={x} y={bottom - failed} width={width} height={failed} />}
    </g>
  )
}

function describeRequests(bucket: Bucket) {
  if (bucket.count === 0) return null
  return (
    <>
      {SERIES.map(([key, text]) => (
        <p key={key} class={text}>
          {text} <b>{formatValue(bucket[key])}</b>
        </p>
      ))}
      <p>
        {formatPlural(bucket.count, 'request')}
        {bucket.errors > 0 && `, ${formatPlural(bucket.errors, 'error')}`}
      </p>
    </>
  )
}

function formatValue(ms: number | null): string {
  return ms === null ? '–' : formatDuration(ms)
}

function formatSummary(buckets: readonly Bucket[], name: string): string {
  const filled = buckets.filter((one) => one.count > 0)
  const worst = filled.reduce<Bucket | undefined>(
    (most, one) => ((one.p95_ms ?? 0) > (most?.p95_ms ?? -1) ? one : most),
    undefined,
  )
  const requests = filled.reduce((sum, one) => sum + one.count, 0)
  return `Latency of ${name}: ${formatCount(requests)} requests${
    worst?.p95_ms === undefined || worst.p95_ms === null
      ? ''
      : `, slowest p95 ${formatDuration(worst.p95_ms)} at ${formatShortTime(worst.at).slice(0, 8)}`
  }. The values follow as a table.`
}

/** The data of the plot as a table. */
export function LatencyTable({ latency }: { readonly latency: RouteLatency }) {
  const toCells = (at: number): readonly string[] | null => {
    const { count, errors, ...one } = latency.buckets[at] as Bucket
    return count === 0
      ? null
      : [formatCount(count), formatCount(errors), ...SERIES.map(([key]) => formatValue(one[key]))]
  }
  return (
    <PlotTable
      label="Latency as a table"
      heads={['Requests', 'Errors', ...SERIES.map(([, text]) => text)]}
      buckets={toBuckets(latency)}
      toCells={toCells}
    />
  )
}
