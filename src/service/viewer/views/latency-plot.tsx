/** Plots a route's latency over time: three percentiles as lines, requests and errors as bars below. */
import { useMemo } from 'preact/hooks'
import type { RouteLatency } from '../../query/api-types.js'
import { Fold } from '../detail/section.js'
import { createDurationScale } from '../plot-scale.js'
import { formatBucketTime, Plot, PlotTable, Stroke } from '../plot.js'
import type { View } from '../view.js'
import { formatCount, formatDuration, formatPlural, formatShortTime } from '../view-format.js'

const SERIES = [
  ['p50_ms', 'p50', ''],
  ['p95_ms', 'p95', '7 3'],
  ['p99_ms', 'p99', '2 3'],
] as const
const BARS_PX = 38

type Bucket = RouteLatency['buckets'][number]

/** The plot, and its data as a table. A click selects the time of a bucket; the table has links for this. */
export function LatencyPlot({
  latency,
  name,
  onChoose,
}: {
  readonly latency: RouteLatency
  readonly name: string
  readonly onChoose: (time: Partial<View>) => void
}) {
  const at = (bucket: number): Bucket => latency.buckets[bucket] as Bucket
  const data = useMemo(() => {
    const { buckets, step_ms: stepMs } = latency
    return {
      buckets: { sinceMs: Date.parse(buckets[0]?.at ?? ''), stepMs, count: buckets.length },
      lines: SERIES.map(([key, text, dashes]) => ({
        ...{ key, text, dashes, class: text },
        values: buckets.map((one) => one[key]),
      })),
      format: formatDuration,
      isEmpty: (bucket: number) => buckets[bucket]?.count === 0,
    }
  }, [latency])
  const most = Math.max(1, ...latency.buckets.map((one) => one.count))
  return (
    <>
      <ul class="legend" aria-hidden="true">
        {data.lines.map((line) => (
          <li key={line.key} class={line.class}>
            <Stroke line={line} /> {line.text}
          </li>
        ))}
        <li class="requests">requests</li>
        <li class="errors">errors (5xx)</li>
      </ul>
      <Plot
        {...data}
        label={formatSummary(latency.buckets, name)}
        height={260}
        barsHeight={BARS_PX}
        createScale={createDurationScale}
        drawBar={(bucket, x, width, bottom) => {
          const { count, errors } = at(bucket)
          const all = count === 0 ? 0 : Math.max(1.5, (count / most) * BARS_PX)
          const failed = errors === 0 ? 0 : Math.max(2, (all * errors) / count)
          return (
            <g key={bucket}>
              <rect class="requests" x={x} y={bottom - all} width={width} height={all} />
              <rect class="errors" x={x} y={bottom - failed} width={width} height={failed} />
            </g>
          )
        }}
        describe={(bucket) => (
          <p>
            {formatPlural(at(bucket).count, 'request')}
            {at(bucket).errors > 0 && `, ${formatPlural(at(bucket).errors, 'error')}`}
          </p>
        )}
        onChoose={(bucket) => onChoose(formatBucketTime(data.buckets, bucket))}
      />
      <Fold summary="As a table">
        {() => (
          <PlotTable
            {...data}
            label="Latency as a table"
            more={[
              ['Requests', (bucket) => formatCount(at(bucket).count)],
              ['Errors', (bucket) => formatCount(at(bucket).errors)],
            ]}
          />
        )}
      </Fold>
    </>
  )
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
