/** Selects a sliding window up to now, all time, or a typed range. */
import { navigate } from '../use-view.js'
import { LAST_RANGES } from '../view.js'
import type { Filter } from '../view.js'
import { RangeInput } from './range-input.js'
import { formatLast } from './time-text.js'

export function TimeRange({ view: { last, since, until } }: { view: Filter }) {
  const isAll = last === null && since === null && until === null
  return (
    <div class="choice time-range" role="group" aria-label="Time">
      {LAST_RANGES.map((range) => (
        <button
          key={range}
          type="button"
          class="button small"
          aria-pressed={last === range}
          aria-label={formatLast(range)}
          title={formatLast(range)}
          onClick={() => navigate({ last: range, since: null, until: null })}
        >
          {formatLast(range).slice('Last '.length)}
        </button>
      ))}
      <button
        type="button"
        class="button small"
        aria-pressed={isAll}
        aria-label="All time"
        onClick={() => navigate({ last: null, since: null, until: null })}
      >
        All
      </button>
      <RangeInput />
    </div>
  )
}
