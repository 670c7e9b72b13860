/** Selects a sliding window up to now, or all time. */
import { navigate } from '../use-view.js'
import { LAST_RANGES } from '../view.js'
import type { Filter } from '../view.js'
import { LAST_TITLES } from './time-text.js'

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
          aria-label={LAST_TITLES[range]}
          title={LAST_TITLES[range]}
          onClick={() => navigate({ last: range, since: null, until: null })}
        >
          {LAST_TITLES[range].slice('Last '.length)}
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
    </div>
  )
}
