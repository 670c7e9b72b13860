/** The chart of the query, in place of the histogram: lines over time, one for each value of a field. */
import { useMemo, useRef, useState } from 'preact/hooks'
import type { ChartData } from '../../query/api-types.js'
import { printChart } from '../../query/language/index.js'
import type { Chart } from '../../query/language/index.js'
import { useChanges } from '../changes.js'
import { Problem } from '../components.js'
import { createDurationScale, createNumberScale } from '../plot-scale.js'
import { formatAt, Plot, PlotTable, Stroke } from '../plot.js'
import type { Buckets } from '../plot-scale.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { formatDuration, formatPlural } from '../view-format.js'
import type { Filter } from '../view.js'
import { createLines, describeChart, findFormat, readChart } from './chart-model.js'
import type { ChartLine } from './chart-model.js'
import { HEIGHT } from './histogram.js'
import { TimeHead } from './time-head.js'
import { zoomIn } from './zoom.js'

interface Loaded {
  readonly data: ChartData
  readonly chart: Chart
}

export function ChartPanel({ view, text }: { readonly view: Filter; readonly text: string }) {
  const version = useChanges('entry')
  const chart = readChart(text)
  const { data, error, isCurrent } = useQuery<ChartData>(
    chart === null ? null : 'chart',
    { ...useFilterParameters(view), chart: text },
    version,
  )
  const [isTable, setTable] = useState(false)
  // While another chart loads, the last one stays, with its own names and units.
  const loaded = useRef<Loaded | undefined>(undefined)
  if (error !== undefined && data === undefined) loaded.current = undefined
  else if (isCurrent && data !== undefined && chart !== null && loaded.current?.data !== data)
    loaded.current = { data, chart }
  const shown = loaded.current
  return (
    <section class="histogram chart-panel" aria-label="Chart" aria-busy={!isCurrent}>
      <TimeHead data={shown?.data} unit="a point" title={<b>{shown === undefined ? text : printChart(shown.chart)}</b>}>
        {shown !== undefined && shown.data.without_number > 0 && shown.data.groups.length > 0 && (
          <span class="faint">{formatPlural(shown.data.without_number, 'entry', 'entries')} without a number</span>
        )}
        {shown !== undefined && shown.data.groups.length > 0 && (
          <button type="button" class="link-button" onClick={() => setTable(!isTable)}>
            {isTable ? 'As lines' : 'As a table'}
          </button>
        )}
      </TimeHead>
      <Problem error={error} />
      {shown === undefined ? (
        error === undefined && chart !== null && <p class="muted">Loading …</p>
      ) : (
        <Lines {...shown} view={view} isTable={isTable} />
      )}
    </section>
  )
}

function Lines({ data, chart, view, isTable }: Loaded & { readonly view: Filter; readonly isTable: boolean }) {
  const lines = useMemo(() => createLines(data, chart), [data])
  const buckets = useMemo((): Buckets => {
    const sinceMs = Date.parse(data.since ?? '')
    return { sinceMs, stepMs: data.step_ms, count: lines[0]?.values.length ?? 0 }
  }, [data])
  if (data.since === null) return null
  if (lines.length === 0)
    return (
      <p class="muted">
        No entry has a number in <code>{chart.field}</code>.
      </p>
    )
  const format = findFormat(chart)
  const isEmpty = (bucket: number): boolean =>
    lines.every(({ values }) => (chart.name === 'count' ? !values[bucket] : values[bucket] === null))
  return (
    <>
      <ul class="chart-legend" aria-label="Lines">
        {lines.map((line) => (
          <li key={line.key}>
            <LegendItem line={line} value={format(line.value)} view={view} />
          </li>
        ))}
      </ul>
      {isTable ? (
        <PlotTable label="The chart as a table" {...{ lines, buckets, format, isEmpty }} />
      ) : (
        <Plot
          label={describeChart(lines, chart)}
          {...{ lines, buckets, format }}
          height={HEIGHT}
          createScale={(bottom, top) => {
            const values = lines.flatMap((line) => line.values.filter((value) => value !== null))
            return format === formatDuration && chart.name !== 'sum'
              ? createDurationScale(values, bottom, top)
              : createNumberScale(values, bottom, top, chart.name === 'count' ? 1 : 0)
          }}
          describe={(first, last) =>
            first === last &&
            lines.map((line) => (
              <p key={line.key} class={line.class} style={line.style}>
                <Stroke line={line} /> <span class="cut">{line.text}</span> <b>{formatAt(line, first, format)}</b>
              </p>
            ))
          }
          onChoose={(time) => zoomIn(view, time)}
        />
      )}
    </>
  )
}

function LegendItem({
  line,
  value,
  view,
}: {
  readonly line: ChartLine
  readonly value: string
  readonly view: Filter
}) {
  const { text, class: className, style, narrow, count } = line
  const title = `${text}: ${value}, ${formatPlural(count, 'entry', 'entries')}`
  return (
    <button
      type="button"
      class={className}
      style={style}
      title={narrow === undefined ? title : `${title}. Adds it to the filter`}
      disabled={narrow === undefined}
      onClick={() => narrow !== undefined && navigate({ q: narrow(view.q) })}
    >
      <Stroke line={line} />
      <span class="cut">{text}</span> <b>{value}</b>
    </button>
  )
}
