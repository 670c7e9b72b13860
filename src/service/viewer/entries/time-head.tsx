/** The line above a chart: its time range, and a button that goes back to the previous one. */
import type { ComponentChildren } from 'preact'
import type { Histogram } from '../../query/api-types.js'
import { formatCount, formatDuration, formatTimeRange } from '../view-format.js'
import { canGoBack, goBack, isQueryReplaced } from './zoom.js'

interface TimeHeadProps {
  readonly data: Omit<Histogram, 'buckets'> | undefined
  /** What a step is: `a bar`. */
  readonly unit: string
  readonly title?: ComponentChildren
  readonly children?: ComponentChildren
}

export function TimeHead({ data, unit, title, children }: TimeHeadProps) {
  const { since = null, until = null, step_ms: stepMs = 0, before = 0, after = 0 } = data ?? {}
  return (
    <div class="histogram-head">
      {title}
      <span>{since === null || until === null ? ' ' : formatTimeRange(Date.parse(since), Date.parse(until))}</span>
      {since !== null && (
        <span class="faint">
          {formatDuration(stepMs)} {unit}
        </span>
      )}
      {(before > 0 || after > 0) && (
        <span class="faint" title="Matches outside the chart">
          {[before > 0 && `${formatCount(before)} older`, after > 0 && `${formatCount(after)} newer`]
            .filter(Boolean)
            .join(', ')}
        </span>
      )}
      {children}
      {canGoBack() && (
        <button type="button" class="link-button" title="Back (Esc)" onClick={goBack}>
          {isQueryReplaced() ? 'Back' : 'Zoom out'}
        </button>
      )}
    </div>
  )
}
