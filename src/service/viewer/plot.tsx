/** A plot over time: bars or lines, axes, the values at the pointer. Dragging, a click or the keys select a range of time. */
import { Component } from 'preact'
import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { createLine, createTimeTicks } from './plot-scale.js'
import type { Bar, Buckets, PlotLine, Point, Scale } from './plot-scale.js'
import { useSize } from './use-size.js'
import { useView } from './use-view.js'
import { formatFullTime, formatShortTime, formatTimeRange } from './view-format.js'
import { createHref } from './view.js'
import type { View } from './view.js'

/** Space for the labels of values. */
const LABELS = 56
const RIGHT = 12
const TOP = 4
/** Height of the labels of the time axis, with the space above them. */
const AXIS = 20
const PX_PER_CHAR = 7
const PX_BETWEEN_TICKS = 30
const MAX_BAR_PX = 40
const DAY_MS = 86_400_000

interface PlotProps {
  readonly label: string
  readonly buckets: Buckets
  readonly height: number
  /** Bars of a bucket, from the axis upwards. @param height maximum of their sum, in pixels */
  readonly createBars?: (bucket: number, height: number) => readonly Bar[]
  readonly lines?: readonly PlotLine[]
  /** Scale of the values of the lines. Without it, values have no axis. */
  readonly createScale?: (bottom: number, top: number) => Scale
  readonly format?: (value: number) => string
  readonly marks?: readonly { readonly ms: number; readonly text: string }[]
  readonly describe: (first: number, last: number) => ComponentChildren
  readonly onChoose: (time: Time) => void
}

type Time = Pick<View, 'last' | 'since' | 'until'>

function formatBucketTime({ sinceMs, stepMs }: Buckets, first: number, last = first): Time {
  const [since, until] = [first, last + 1].map((n) => new Date(sinceMs + n * stepMs).toISOString())
  return { last: null, since: since as string, until: until as string }
}

/** The buckets under the pointer, or selected by pointer or keys. */
interface Choice {
  readonly from: number
  readonly to: number
  readonly by: 'hover' | 'drag' | 'key'
}

export function Plot(given: PlotProps) {
  const { ref, width } = useSize<HTMLDivElement>()
  const [choice, setChoice] = useState<Choice | null>(null)
  // New data would change the times of a selection.
  const frozen = useRef(given)
  if (choice === null || choice.by === 'hover') frozen.current = given
  const { buckets, label, height, createScale, describe, onChoose, marks = [] } = frozen.current
  const { sinceMs, stepMs, count } = buckets
  const left = createScale === undefined ? 0 : LABELS
  const right = Math.max(left + 50, width - (createScale === undefined ? 0 : RIGHT))
  const widthPer = (right - left) / Math.max(1, count)
  const shown = choice !== null && Math.max(choice.from, choice.to) < count ? choice : null
  const [first, last] = [Math.min(shown?.from ?? 0, shown?.to ?? 0), Math.max(shown?.from ?? 0, shown?.to ?? 0)]

  const limit = (bucket: number): number => Math.max(0, Math.min(count - 1, bucket))
  const findBucket = (event: PointerEvent): number =>
    limit(Math.floor((event.clientX - (ref.current?.getBoundingClientRect().left ?? 0) - left) / widthPer))
  const select = (): void => {
    setChoice(null)
    if (shown !== null) onChoose(formatBucketTime(buckets, first, last))
  }
  const onPointerDown = (event: PointerEvent & { readonly currentTarget: Element }): void => {
    if (event.button !== 0 || count === 0) return
    event.currentTarget.setPointerCapture(event.pointerId)
    setChoice({ from: findBucket(event), to: findBucket(event), by: 'drag' })
  }
  const onPointerMove = (event: PointerEvent): void => {
    if (count === 0) return
    const to = findBucket(event)
    setChoice(choice?.by === 'drag' ? { ...choice, to } : { from: to, to, by: 'hover' })
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (count === 0 || event.ctrlKey || event.metaKey || event.altKey) return
    if (by !== 0) {
      const to = shown === null ? (by > 0 ? 0 : count - 1) : limit(shown.to + by)
      setChoice({ from: event.shiftKey && shown !== null ? shown.from : to, to, by: 'key' })
    } else if (event.key === 'Enter' && shown !== null) select()
    else if (event.key === 'Escape' && shown !== null) setChoice(null)
    else return
    event.preventDefault()
  }
  const [startMs, endMs] = [sinceMs + first * stepMs, sinceMs + (last + 1) * stepMs]
  const tip = shown !== null && (
    <>
      <p class="muted">{formatTimeRange(startMs, endMs)}</p>
      {describe(first, last)}
      {marks.flatMap(({ ms, text }) => (ms >= startMs && ms < endMs ? [<p key={`${ms} ${text}`}>{text}</p>] : []))}
    </>
  )
  return (
    <div
      class="plot"
      ref={ref}
      role="group"
      tabIndex={count === 0 ? -1 : 0}
      aria-label="Select a time: left and right arrows move, Shift extends, Enter selects"
      onKeyDown={onKeyDown}
      onBlur={() => setChoice(null)}
      onPointerDown={onPointerDown}
      onPointerMove={onPointerMove}
      onPointerUp={() => choice?.by === 'drag' && select()}
      onPointerLeave={() => choice?.by === 'hover' && setChoice(null)}
      onPointerCancel={() => setChoice(null)}
    >
      {width > 0 && (
        <svg role="img" aria-label={label} width={width} height={height}>
          <Drawing {...frozen.current} left={left} right={right} />
          {shown !== null && (
            <rect
              class="cursor"
              x={left + first * widthPer}
              y={0}
              width={Math.max(1, (last - first + 1) * widthPer)}
              height={height - AXIS}
            />
          )}
        </svg>
      )}
      {shown !== null && (
        <div
          class={`tip ${shown.to > count / 2 ? 'to-left' : ''}`}
          style={{ '--x': `${left + (shown.to + 0.5) * widthPer}px` }}
          aria-hidden="true"
        >
          {tip}
        </div>
      )}
      <div class="visually-hidden" role="status">
        {shown?.by === 'key' && tip}
      </div>
    </div>
  )
}

type DrawingProps = PlotProps & { readonly left: number; readonly right: number }

/** A class component, because elements that `useMemo` keeps would keep all earlier renders in memory. */
class Drawing extends Component<DrawingProps> {
  override shouldComponentUpdate(next: DrawingProps): boolean {
    const names = ['buckets', 'lines', 'marks', 'left', 'right', 'height'] as const
    return names.some((name) => next[name] !== this.props[name])
  }

  override render() {
    const { props } = this
    const { height, buckets, createBars, lines = [], createScale, format = String, marks, left, right } = props
    const bottom = height - AXIS
    const { sinceMs, stepMs, count } = buckets
    const lengthMs = count * stepMs
    const widthPer = (right - left) / Math.max(1, count)
    const scale = createScale?.(bottom, TOP)
    const toX = (ms: number): number => left + ((ms - sinceMs) / lengthMs) * (right - left)
    const zoneMs = -new Date(sinceMs).getTimezoneOffset() * 60_000
    const labelPx = formatTimeTick(sinceMs, stepMs, lengthMs).length * PX_PER_CHAR
    // Ticks closer than the steps would repeat their labels.
    const mostTicks = Math.min(count, Math.max(2, Math.floor((right - left) / (labelPx + PX_BETWEEN_TICKS))))
    const ticks = count === 0 ? [] : createTimeTicks(sinceMs, sinceMs + lengthMs, mostTicks, zoneMs)
    const barPx = Math.max(1, Math.min(MAX_BAR_PX, widthPer - 1))
    return (
      <>
        {scale?.ticks.map((value) => (
          <g key={value}>
            <line class="grid" x1={left} x2={right} y1={scale.place(value)} y2={scale.place(value)} />
            <text class="tick" x={left - 8} y={scale.place(value) + 4} text-anchor="end">
              {format(value)}
            </text>
          </g>
        ))}
        {ticks
          .filter((ms) => toX(ms) >= labelPx / 2 && toX(ms) + labelPx / 2 <= right)
          .map((ms) => (
            <text key={ms} class="tick" x={toX(ms)} y={height - 5} text-anchor="middle">
              {formatTimeTick(ms, stepMs, lengthMs)}
            </text>
          ))}
        {createBars !== undefined &&
          Array.from({ length: count }, (_, bucket) => {
            let y = bottom
            const x = left + (bucket + 0.5) * widthPer - barPx / 2
            return createBars(bucket, bottom - TOP).map((bar) => {
              y -= bar.height
              return <rect key={`${bucket} ${bar.class}`} {...bar} x={x} y={y} width={barPx} />
            })
          })}
        {marks?.flatMap(({ ms, text }) =>
          ms < sinceMs || ms >= sinceMs + lengthMs
            ? []
            : [<line key={`${ms} ${text}`} class="run-start" x1={toX(ms)} x2={toX(ms)} y1={0} y2={bottom} />],
        )}
        <line class="axis" x1={left} x2={right} y1={bottom} y2={bottom} />
        {lines.map((one) => {
          const points = one.values.map((value, index): Point | null =>
            value === null || scale === undefined
              ? null
              : { x: left + (index + 0.5) * widthPer, y: scale.place(value) },
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
  }
}

function formatTimeTick(ms: number, stepMs: number, lengthMs: number): string {
  const iso = new Date(ms).toISOString()
  if (lengthMs > 2 * DAY_MS) return formatFullTime(iso).slice(5, 16)
  return formatShortTime(iso).slice(0, stepMs < 1_000 ? 12 : stepMs < 60_000 ? 8 : 5)
}

export function formatAt({ values }: PlotLine, bucket: number, format: (value: number) => string): string {
  const value = values[bucket] ?? null
  return value === null ? '–' : format(value)
}

export function Stroke({ line: { dashes } }: { readonly line: PlotLine }) {
  return (
    <svg class="stroke" width={22} height={8} aria-hidden="true">
      <path d="M0 4H22" stroke-dasharray={dashes} />
    </svg>
  )
}

interface PlotTableProps {
  readonly label: string
  readonly buckets: Buckets
  readonly lines: readonly PlotLine[]
  readonly format: (value: number) => string
  /** Whether a bucket has no record; it has no row. */
  readonly isEmpty: (bucket: number) => boolean
}

/** The data of a plot as a table, for screen readers and for copying. A link selects the time of a bucket. */
export function PlotTable({ label, buckets, lines, format, isEmpty }: PlotTableProps) {
  const view = useView()
  return (
    <div class="table-scroll plot-table" tabIndex={0} role="region" aria-label={label}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">From</th>
            {lines.map(({ key, text }) => (
              <th key={key} scope="col" class="number">
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
                {lines.map((line) => (
                  <td key={line.key} class="number">
                    {formatAt(line, bucket, format)}
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
