/** Plots a route's latency over time: three percentiles as lines, requests and errors as bars below. */
import { useMemo, useState } from 'preact/hooks'
import type { RouteLatency } from '../../query/api-types.js'
import { formatCount, formatDuration, formatPlural, formatShortTime, formatTimeRange } from '../view-format.js'
import { useView } from '../use-view.js'
import { createHref } from '../view.js'
import type { View } from '../view.js'
import { createDurationScale, createLine, createTimeTicks } from './plot.js'
import type { Point } from './plot.js'
import { useSize } from '../use-size.js'

const SERIES = [
  ['p50_ms', 'p50'],
  ['p95_ms', 'p95'],
  ['p99_ms', 'p99'],
] as const

const HEIGHT = 260
const LEFT = 56
const RIGHT = 12
const TOP = 10
const LINES_BOTTOM = 176
const BARS_TOP = 194
const BARS_BOTTOM = 232
const PX_PER_CHAR = 7
const PX_BETWEEN_TICKS = 30

type Bucket = RouteLatency['buckets'][number]

/** Returns the time range of a bucket as a filter. */
export function formatBucketTime(at: string, stepMs: number): Pick<View, 'last' | 'since' | 'until'> {
  return { last: null, since: at, until: new Date(Date.parse(at) + stepMs).toISOString() }
}

/** The plot. A click selects the time of a bucket; the table has links for this. */
export function LatencyPlot({
  latency,
  name,
  onChoose,
}: {
  readonly latency: RouteLatency
  readonly name: string
  readonly onChoose: (at: string) => void
}) {
  const { ref, width } = useSize<HTMLDivElement>()
  const [hovered, setHovered] = useState<number | null>(null)
  const { buckets, step_ms: stepMs } = latency
  const bucket = hovered === null ? undefined : buckets[hovered]
  const right = Math.max(LEFT + 50, width - RIGHT)
  const widthPer = (right - LEFT) / Math.max(1, buckets.length)
  const hover = (event: PointerEvent & { readonly currentTarget: Element }) => {
    const index = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / widthPer)
    setHovered(index >= 0 && index < buckets.length ? index : null)
  }
  return (
    <div class="plot" ref={ref}>
      <ul class="legend" aria-hidden="true">
        {SERIES.map(([, text]) => (
          <li key={text} class={text}>
            {text}
          </li>
        ))}
        <li class="requests">requests</li>
        <li class="errors">errors (5xx)</li>
      </ul>
      {width > 0 && (
        <svg
          role="img"
          aria-label={formatSummary(buckets, name)}
          width={width}
          height={HEIGHT}
          onPointerMove={hover}
          onPointerLeave={() => setHovered(null)}
          onClick={() => bucket !== undefined && bucket.count > 0 && onChoose(bucket.at)}
        >
          <Drawing buckets={buckets} stepMs={stepMs} right={right} />
          {hovered !== null && (
            <rect
              class="cursor"
              x={LEFT + hovered * widthPer}
              y={TOP}
              width={Math.max(1, widthPer)}
              height={BARS_BOTTOM - TOP}
            />
          )}
        </svg>
      )}
      {bucket !== undefined && hovered !== null && (
        <Tip
          bucket={bucket}
          stepMs={stepMs}
          left={LEFT + (hovered + 0.5) * widthPer}
          isLeft={hovered > buckets.length / 2}
        />
      )}
    </div>
  )
}

function Drawing({
  buckets,
  stepMs,
  right,
}: {
  readonly buckets: readonly Bucket[]
  readonly stepMs: number
  readonly right: number
}) {
  const drawn = useMemo(() => {
    const sinceMs = Date.parse(buckets[0]?.at ?? '')
    const untilMs = sinceMs + buckets.length * stepMs
    const widthPer = (right - LEFT) / Math.max(1, buckets.length)
    const scale = createDurationScale(
      buckets.flatMap(({ p50_ms: low, p99_ms: high }) => [low, high]).filter((one) => one !== null),
      LINES_BOTTOM,
      TOP,
    )
    const most = Math.max(1, ...buckets.map((one) => one.count))
    const bar = (value: number) => (value === 0 ? 0 : Math.max(1.5, (value / most) * (BARS_BOTTOM - BARS_TOP)))
    const zoneMs = -new Date(sinceMs).getTimezoneOffset() * 60_000
    const pxPerTick = tickText(sinceMs, stepMs).length * PX_PER_CHAR + PX_BETWEEN_TICKS
    const xOf = (ms: number) => LEFT + ((ms - sinceMs) / (untilMs - sinceMs)) * (right - LEFT)
    return {
      scale,
      widthPer,
      bar,
      times: createTimeTicks(sinceMs, untilMs, Math.max(2, Math.floor((right - LEFT) / pxPerTick)), zoneMs).map(
        (ms) => ({
          ms,
          x: xOf(ms),
        }),
      ),
      lines: SERIES.map(([key, text]) => ({
        text,
        line: createLine(
          buckets.map((one, index): Point | null => {
            const value = one[key]
            return value === null ? null : { x: LEFT + (index + 0.5) * widthPer, y: scale.place(value) }
          }),
        ),
      })),
    }
  }, [buckets, stepMs, right])
  const { scale, widthPer, bar, times, lines } = drawn
  return (
    <>
      {scale.ticks.map((value) => (
        <g key={value}>
          <line class="grid" x1={LEFT} x2={right} y1={scale.place(value)} y2={scale.place(value)} />
          <text class="tick" x={LEFT - 8} y={scale.place(value) + 4} text-anchor="end">
            {formatDuration(value)}
          </text>
        </g>
      ))}
      {times.map(({ ms, x }) => (
        <text key={ms} class="tick" x={x} y={HEIGHT - 8} text-anchor="middle">
          {tickText(ms, stepMs)}
        </text>
      ))}
      {buckets.map((one, index) => {
        const all = bar(one.count)
        const errors = one.errors === 0 ? 0 : Math.max(2, (all * one.errors) / one.count)
        const x = LEFT + index * widthPer + 0.5
        const wide = Math.max(1, widthPer - 1)
        return all === 0 ? null : (
          <g key={one.at}>
            <rect class="requests" x={x} y={BARS_BOTTOM - all} width={wide} height={all} />
            {errors > 0 && <rect class="errors" x={x} y={BARS_BOTTOM - errors} width={wide} height={errors} />}
          </g>
        )
      })}
      <line class="axis" x1={LEFT} x2={right} y1={BARS_BOTTOM} y2={BARS_BOTTOM} />
      {lines.map(({ text, line }) => (
        <g key={text} class={`line ${text}`}>
          <path d={line.path} />
          {line.dots.map(({ x, y }, index) => (
            <circle key={index} cx={x} cy={y} r={2.5} />
          ))}
        </g>
      ))}
    </>
  )
}

function Tip({
  bucket,
  stepMs,
  left,
  isLeft,
}: {
  readonly bucket: Bucket
  readonly stepMs: number
  readonly left: number
  readonly isLeft: boolean
}) {
  const atMs = Date.parse(bucket.at)
  return (
    <div class={`tip ${isLeft ? 'to-left' : ''}`} style={{ left: `${left}px` }} aria-hidden="true">
      <p class="muted">{formatTimeRange(atMs, atMs + stepMs)}</p>
      {bucket.count > 0 &&
        SERIES.map(([key, text]) => (
          <p key={key} class={text}>
            {text} <b>{bucket[key] === null ? '–' : formatDuration(bucket[key])}</b>
          </p>
        ))}
      <p>
        {formatPlural(bucket.count, 'request')}
        {bucket.errors > 0 && `, ${formatPlural(bucket.errors, 'error')}`}
      </p>
    </div>
  )
}

function tickText(ms: number, stepMs: number): string {
  const time = formatShortTime(new Date(ms).toISOString())
  return stepMs < 1_000 ? time.slice(0, 12) : stepMs < 60_000 ? time.slice(0, 8) : time.slice(0, 5)
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

/** The data of the plot as a table, for screen readers and for copying. */
export function LatencyTable({ latency: { buckets, step_ms: stepMs } }: { readonly latency: RouteLatency }) {
  const view = useView()
  const show = (ms: number | null) => (ms === null ? '–' : formatDuration(ms))
  return (
    <div class="table-scroll latency-table" tabIndex={0} role="region" aria-label="Latency as a table">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {['Requests', 'Errors', 'p50', 'p95', 'p99'].map((text) => (
              <th key={text} scope="col" class="number">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets
            .filter((one) => one.count > 0)
            .map((one) => (
              <tr key={one.at}>
                <td class="time">
                  <a href={createHref({ ...view, ...formatBucketTime(one.at, stepMs) })}>{formatShortTime(one.at)}</a>
                </td>
                <td class="number">{formatCount(one.count)}</td>
                <td class="number">{formatCount(one.errors)}</td>
                <td class="number">{show(one.p50_ms)}</td>
                <td class="number">{show(one.p95_ms)}</td>
                <td class="number">{show(one.p99_ms)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}
