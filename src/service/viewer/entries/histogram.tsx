/** The histogram: entries over time, by level, with the starts of runs. A selection becomes the time filter. */
import { useMemo } from 'preact/hooks'
import type { Histogram as HistogramData } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { Plot } from '../plot.js'
import { useQuery } from '../use-query.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useRuns } from '../use-runs.js'
import { navigate } from '../use-view.js'
import { formatShortTime } from '../view-format.js'
import type { Filter } from '../view.js'
import { createBars, describeCounts } from './histogram-model.js'
import { TimeHead } from './time-head.js'
import { zoomIn } from './zoom.js'

const BUCKETS = 60
export const HEIGHT = 84

export function Histogram({ view }: { view: Filter }) {
  const parameters = { ...useFilterParameters(view), buckets: BUCKETS }
  const { data } = useQuery<HistogramData>('histogram', parameters, useChanges('entry'))
  const runs = useRuns()
  const marks = useMemo(
    () =>
      runs.map(({ service, first_seen: at, is_restart: isRestart }) => ({
        ms: Date.parse(at),
        text: `${service ?? 'A run'} ${isRestart ? 'restarted' : 'started'}, ${formatShortTime(at).slice(0, 8)}`,
      })),
    [runs],
  )
  const { buckets = [], since = null, step_ms: stepMs = 0, before = 0, after = 0 } = data ?? {}
  const range = useMemo(
    () => ({ sinceMs: since === null ? 0 : Date.parse(since), stepMs, count: buckets.length }),
    [data],
  )
  const most = buckets.reduce((greatest, { total }) => Math.max(greatest, total), 1)
  // One bar tells nothing, but its place stays: rows must not move when the next entry arrives.
  const isSingle = data !== undefined && buckets.reduce((sum, { total }) => sum + total, before + after) === 1
  return (
    <section class={isSingle ? 'histogram single' : 'histogram'} aria-label="Entries over time">
      <TimeHead data={data} unit="a bar">
        <button type="button" class="link-button" onClick={() => navigate({ chart: 'count by service' })}>
          Chart
        </button>
      </TimeHead>
      <Plot
        label={`Chart: ${describeCounts(buckets)}`}
        buckets={range}
        height={HEIGHT}
        createBars={(bucket, height) => createBars(buckets[bucket] as HistogramData['buckets'][number], most, height)}
        marks={marks}
        describe={(first, last) => (
          <p>
            <b>{describeCounts(buckets.slice(first, last + 1))}</b>
          </p>
        )}
        onChoose={(time) => zoomIn(view, time)}
      />
    </section>
  )
}
