/** A plot of values over time: axes, lines, the values at the pointer. A click or Enter selects the time of a bucket. */
import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { createLine, createTimeTicks } from './plot-scale.js'
import type { Buckets, PlotLine, Point, Scale } from './plot-scale.js'
import { useSize } from './use-size.js'
import { useView } from './use-view.js'
import { formatFullTime, formatShortTime, formatTimeRange } from './view-format.js'
import { createHref } from './view.js'
import type { View } from './view.js'

const LEFT = 56
const RIGHT = 12
const TOP = 10
/** Height of the labels of the time axis, with the space above them. */
const AXIS = 28
const PX_PER_CHAR = 7
const PX_BETWEEN_TICKS = 30
const DAY_MS = 86_400_000

interface PlotData {
  /** Description for screen readers. */
  readonly label: string
  readonly buckets: Buckets
  readonly lines: readonly PlotLine[]
  readonly format: (value: number) => string
  /** Whether a bucket has no record; it cannot be selected. */
  readonly isEmpty: (bucket: number) => boolean
}

interface PlotProps extends PlotData {
  readonly height: number
  /** Space for bars below the lines, in pixels. Default 0. */
  readonly barsHeight?: number
  readonly createScale: (values: readonly number[], bottom: number, top: number) => Scale
  readonly drawBar?: (bucket: number, x: number, width: number, bottom: number) => ComponentChildren
  /** What follows the values of a bucket. */
  readonly describe?: (bucket: number) => ComponentChildren
  readonly onChoose: (bucket: number) => void
}

/** Returns the time range of a bucket as a filter. */
export function formatBucketTime({ sinceMs, stepMs }: Buckets, bucket: number): Pick<View, 'last' | 'since' | 'until'> {
  const [since, until] = [bucket, bucket + 1].map((n) => new Date(sinceMs + n * stepMs).toISOString())
  return { last: null, since: since as string, until: until as string }
}

export function Plot(props: PlotProps) {
  const { label, height, buckets, lines, format, isEmpty, describe, onChoose } = props
  const { sinceMs, stepMs, count } = buckets
  const { ref, width } = useSize<HTMLDivElement>()
  const [chosen, setChosen] = useState<{ readonly at: number; readonly isByKey: boolean } | null>(null)
  const at = chosen === null || chosen.at >= count ? null : chosen.at
  const right = Math.max(LEFT + 50, width - RIGHT)
  const widthPer = (right - LEFT) / Math.max(1, count)
  const hover = (event: PointerEvent & { readonly currentTarget: Element }): void => {
    const index = Math.floor((event.clientX - event.currentTarget.getBoundingClientRect().left - LEFT) / widthPer)
    setChosen(index >= 0 && index < count ? { at: index, isByKey: false } : null)
  }
  const choose = (): void => {
    if (at === null || isEmpty(at)) return
    setChosen(null)
    onChoose(at)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (by !== 0) {
      const next = at === null ? (by > 0 ? 0 : count - 1) : Math.max(0, Math.min(count - 1, at + by))
      setChosen({ at: next, isByKey: true })
    } else if (event.key === 'Enter' && at !== null) choose()
    else if (event.key === 'Escape' && chosen?.isByKey === true) setChosen(null)
    else return
    event.preventDefault()
  }
  const tip = at !== null && (
    <>
      <p class="muted">{formatTimeRange(sinceMs + at * stepMs, sinceMs + (at + 1) * stepMs)}</p>
      {!isEmpty(at) &&
        lines.map((line) => (
          <p key={line.key} class={line.class} style={line.style}>
            <Stroke line={line} /> <span class="cut">{line.text}</span> <b>{formatAt(line, at, format)}</b>
          </p>
        ))}
      {describe?.(at)}
      {isEmpty(at) && describe === undefined && <p>no entries</p>}
    </>
  )
  return (
    <div
      class="plot"
      ref={ref}
      role="group"
      tabIndex={0}
      aria-label="Select a time: left and right arrows move, Enter selects"
      onKeyDown={onKeyDown}
      onBlur={() => setChosen(null)}
    >
      {width > 0 && (
        <svg
          role="img"
          aria-label={label}
          width={width}
          height={height}
          onPointerMove={hover}
          onPointerLeave={() => setChosen(null)}
          onClick={choose}
        >
          <Drawing {...props} right={right} />
          {at !== null && (
            <rect
              class="cursor"
              x={LEFT + at * widthPer}
              y={TOP}
              width={Math.max(1, widthPer)}
              height={height - AXIS - TOP}
            />
          )}
        </svg>
      )}
      {at !== null && (
        <div
          class={`tip ${at > count / 2 ? 'to-left' : ''}`}
          style={{ '--x': `${LEFT + (at + 0.5) * widthPer}px` }}
          aria-hidden="true"
        >
          {tip}
        </div>
      )}
      <div class="visually-hidden" role="status">
        {chosen?.isByKey === true && tip}
      </div>
    </div>
  )
}

function Drawing(props: PlotProps & { readonly right: number }) {
  const { height, barsHeight = 0, buckets, lines, createScale, format, drawBar, right } = props
  const bottom = height - AXIS
  const drawn = useMemo(() => {
    const { sinceMs, stepMs, count } = buckets
    const lengthMs = count * stepMs
    const widthPer = (right - LEFT) / Math.max(1, count)
    const linesBottom = barsHeight === 0 ? bottom : bottom - barsHeight - 18
    const scale = createScale(
      lines.flatMap(({ values }) => values.filter((value) => value !== null)),
      linesBottom,
      TOP,
    )
    const zoneMs = -new Date(sinceMs).getTimezoneOffset() * 60_000
    const pxPerTick = formatTimeTick(sinceMs, stepMs, lengthMs).length * PX_PER_CHAR + PX_BETWEEN_TICKS
    const mostTicks = Math.max(2, Math.floor((right - LEFT) / pxPerTick))
    return (
      <>
        {scale.ticks.map((value) => (
          <g key={value}>
            <line class="grid" x1={LEFT} x2={right} y1={scale.place(value)} y2={scale.place(value)} />
            <text class="tick" x={LEFT - 8} y={scale.place(value) + 4} text-anchor="end">
              {format(value)}
            </text>
          </g>
        ))}
        {createTimeTicks(sinceMs, sinceMs + lengthMs, mostTicks, zoneMs).map((ms) => (
          <text
            key={ms}
            class="tick"
            x={LEFT + ((ms - sinceMs) / lengthMs) * (right - LEFT)}
            y={height - 8}
            text-anchor="middle"
          >
            {formatTimeTick(ms, stepMs, lengthMs)}
          </text>
        ))}
        {drawBar !== undefined &&
          Array.from({ length: count }, (_, index) =>
            drawBar(index, LEFT + index * widthPer + 0.5, Math.max(1, widthPer - 1), bottom),
          )}
        <line class="axis" x1={LEFT} x2={right} y1={bottom} y2={bottom} />
        {lines.map((one) => {
          const points = one.values.map((value, index): Point | null =>
            value === null ? null : { x: LEFT + (index + 0.5) * widthPer, y: scale.place(value) },
          )
          const { path, dots } = createLine(points)
          return (
            <g key={one.key} class={`line ${one.class ?? ''}`} style={one.style} stroke-dasharray={one.dashes}>
              <path d={path} />
              {dots.map(({ x, y }, index) => (
                <circle key={index} cx={x} cy={y} r={2.5} />
              ))}
            </g>
          )
        })}
      </>
    )
  }, [buckets, lines, right, height])
  return drawn
}

function formatTimeTick(ms: number, stepMs: number, lengthMs: number): string {
  const iso = new Date(ms).toISOString()
  if (lengthMs > 2 * DAY_MS) return formatFullTime(iso).slice(5, 16)
  return formatShortTime(iso).slice(0, stepMs < 1_000 ? 12 : stepMs < 60_000 ? 8 : 5)
}

function formatAt({ values }: PlotLine, bucket: number, format: (value: number) => string): string {
  const value = values[bucket] ?? null
  return value === null ? '–' : format(value)
}

/** A sample of the line. */
export function Stroke({ line: { dashes } }: { readonly line: PlotLine }) {
  return (
    <svg class="stroke" width={22} height={8} aria-hidden="true">
      <path d="M0 4H22" stroke-dasharray={dashes} />
    </svg>
  )
}

interface PlotTableProps extends PlotData {
  /** Columns before those of the lines. */
  readonly more?: readonly (readonly [head: string, toText: (bucket: number) => string])[]
}

/** The data of a plot as a table, for screen readers and for copying. A link selects the time of a bucket. */
export function PlotTable({ label, buckets, lines, format, isEmpty, more = [] }: PlotTableProps) {
  const columns = [
    ...more,
    ...lines.map((line) => [line.text, (bucket: number) => formatAt(line, bucket, format)] as const),
  ]
  const view = useView()
  return (
    <div class="table-scroll plot-table" tabIndex={0} role="region" aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {columns.map(([text], at) => (
              <th key={at} scope="col" class="number">
                {text}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: buckets.count }, (_, bucket) => {
            if (isEmpty(bucket)) return null
            const time = formatBucketTime(buckets, bucket)
            return (
              <tr key={bucket}>
                <td class="time">
                  <a href={createHref({ ...view, ...time })}>{formatShortTime(time.since ?? '')}</a>
                </td>
                {columns.map(([, toText], at) => (
                  <td key={at} class="number">
                    {toText(bucket)}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}
