/** The histogram: entries over time, by level. A selection becomes the time filter. */
import { useRef, useState } from 'preact/hooks'
import type { Histogram as HistogramData } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { formatShortTime } from '../view-format.js'
import { useQuery } from '../use-query.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import type { Filter } from '../view.js'
import { useSize } from '../use-size.js'
import { navigate } from '../use-view.js'
import { describeRange, toIndex, findMaxTotal, selectRange, createSegments, createTicks } from './histogram-model.js'
import { TimeHead } from './time-head.js'
import { zoomIn } from './zoom.js'

const BUCKETS = 60
const DAY_MS = 86_400_000

/** A selection: start and current end. */
interface Choice {
  readonly from: number
  readonly to: number
  /** True during a selection, false while the pointer only hovers. */
  readonly isDrag: boolean
}

export function Histogram({ view }: { view: Filter }) {
  const version = useChanges('entry')
  const newest = useQuery<HistogramData>('histogram', { ...useFilterParameters(view), buckets: BUCKETS }, version).data
  const [choice, setChoice] = useState<Choice | null>(null)
  const [isDragging, setDragging] = useState(false)
  const chart = useRef<HTMLDivElement>(null)
  // Freezes the data during a selection: new data would change the times of its positions.
  const frozen = useRef(newest)
  if (choice?.isDrag !== true) frozen.current = newest
  const data = frozen.current
  const length = data?.buckets.length ?? 0
  const shown = choice !== null && Math.max(choice.from, choice.to) < length ? choice : null
  const { before = 0, after = 0 } = data ?? {}

  const select = ({ from, to }: Choice): void => {
    const range = data === undefined ? undefined : selectRange(data, from, to)
    setChoice(null)
    if (range !== undefined) zoomIn(view, range)
  }
  const indexOf = (event: PointerEvent): number => {
    const box = chart.current?.getBoundingClientRect()
    return box === undefined ? 0 : toIndex((event.clientX - box.left) / box.width, length)
  }
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0 || length === 0) return
    chart.current?.setPointerCapture(event.pointerId)
    setDragging(true)
    setChoice({ from: indexOf(event), to: indexOf(event), isDrag: true })
  }
  const onPointerMove = (event: PointerEvent): void => {
    if (length === 0) return
    const to = indexOf(event)
    setChoice(isDragging && choice !== null ? { ...choice, to } : { from: to, to, isDrag: false })
  }
  const onPointerUp = (): void => {
    setDragging(false)
    if (isDragging && shown !== null) select(shown)
  }
  const endDrag = (): void => {
    setDragging(false)
    setChoice(null)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const by = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0
    if (length === 0 || event.ctrlKey || event.metaKey || event.altKey) return
    if (by !== 0) {
      const to = shown === null ? (by > 0 ? 0 : length - 1) : Math.max(0, Math.min(length - 1, shown.to + by))
      setChoice({ from: event.shiftKey && shown !== null ? shown.from : to, to, isDrag: true })
    } else if (event.key === 'Enter' && shown !== null) select(shown)
    else if (event.key === 'Escape' && shown !== null) setChoice(null)
    else return
    event.preventDefault()
  }

  // One bar tells nothing, but its place stays: rows must not move when the next entry arrives.
  const isSingle = data !== undefined && data.buckets.reduce((sum, { total }) => sum + total, before + after) === 1
  return (
    <section class={isSingle ? 'histogram single' : 'histogram'} aria-label="Entries over time">
      <TimeHead data={data} unit="a bar">
        <button type="button" class="link-button" onClick={() => navigate({ chart: 'count by service' })}>
          Chart
        </button>
      </TimeHead>
      {(data === undefined || length > 0) && (
        <div
          class="chart"
          ref={chart}
          role="group"
          tabIndex={length === 0 ? -1 : 0}
          onKeyDown={onKeyDown}
          aria-label="Select a time: left and right arrows move, Shift extends, Enter selects"
          onPointerDown={onPointerDown}
          onPointerMove={onPointerMove}
          onPointerUp={onPointerUp}
          onPointerLeave={() => !isDragging && setChoice(null)}
          onPointerCancel={endDrag}
          onBlur={endDrag}
        >
          {data !== undefined && <Chart data={data} choice={shown} />}
          {data !== undefined && shown !== null && <Tooltip data={data} choice={shown} />}
        </div>
      )}
      <p class="visually-hidden" role="status">
        {data !== undefined && shown?.isDrag === true && !isDragging ? describeRange(data, shown.from, shown.to) : ''}
      </p>
      {data !== undefined && <Axis data={data} />}
    </section>
  )
}

function Chart({ data, choice }: { data: HistogramData; choice: Choice | null }) {
  const { buckets } = data
  const most = findMaxTotal(data)
  const first = choice === null ? 0 : Math.min(choice.from, choice.to)
  const width = choice === null ? 0 : Math.abs(choice.to - choice.from) + 1
  return (
    <svg
      role="img"
      aria-label={`Chart: ${describeRange(data, 0, buckets.length - 1)}`}
      viewBox={`0 0 ${Math.max(1, buckets.length)} 1`}
      preserveAspectRatio="none"
    >
      {buckets.flatMap((bucket, index) =>
        createSegments(bucket, most).map(({ level, y, height }) => (
          <rect key={`${index} ${level}`} class={`area-${level}`} x={index + 0.08} y={y} width={0.84} height={height} />
        )),
      )}
      {width > 1 && <rect class="unselected" x={0} y={-0.1} width={first} height={1.1} />}
      {width > 1 && (
        <rect class="unselected" x={first + width} y={-0.1} width={buckets.length - first - width} height={1.1} />
      )}
      {width > 0 && <rect class="chosen" x={first} y={-0.1} width={width} height={1.1} />}
    </svg>
  )
}

function Tooltip({ data, choice: { from, to } }: { data: HistogramData; choice: Choice }) {
  const middle = ((from + to) / 2 + 0.5) / data.buckets.length
  const [when, what] = describeRange(data, from, to).split(': ')
  // Shifts the label in proportion to its position to keep it within the chart.
  const place = { left: `${middle * 100}%`, transform: `translateX(-${middle * 100}%)` }
  return (
    <div class="tooltip" aria-hidden="true" style={place}>
      <b>{what}</b>
      <span>{when}</span>
    </div>
  )
}

/** Width of a digit in the font of the axis. */
const DIGIT_PX = 6.8

function Axis({ data: { buckets, step_ms: stepMs, since, until } }: { data: HistogramData }) {
  const { ref, width } = useSize<HTMLDivElement>()
  const isDays = since !== null && until !== null && Date.parse(until) - Date.parse(since) > 2 * DAY_MS
  const digits = isDays ? 10 : stepMs < 1000 ? 12 : stepMs < 60_000 ? 8 : 5
  const text = (at: string): string => (isDays ? at.slice(0, digits) : formatShortTime(at).slice(0, digits))
  return (
    <div class="axis" aria-hidden="true" ref={ref}>
      {createTicks(buckets.length, width, digits * DIGIT_PX).map((index) => (
        <span key={index} style={{ left: `${(index / buckets.length) * 100}%` }}>
          {text(buckets[index]?.at ?? '')}
        </span>
      ))}
    </div>
  )
}
