/** Selects a sliding window up to now, all time, or a typed range: `2h`, `09:00..09:30`, `2026-11-20..2026-11-21`. */
import { useId, useState } from 'preact/hooks'
import { Popup } from '../popup.js'
import { navigate } from '../use-view.js'
import { LAST_RANGES } from '../view.js'
import type { Filter } from '../view.js'
import { formatLast, formatTimeText, parseTimeRange } from './time-text.js'

const ALL = { last: null, since: null, until: null }

export function TimeRange({ view }: { view: Filter }) {
  const { last, since, until } = view
  const isFixed = since !== null || until !== null
  const isTyped = isFixed || (last !== null && !LAST_RANGES.includes(last as '5m'))
  return (
    <div class="segments" role="group" aria-label="Time">
      {LAST_RANGES.map((range) => (
        <button
          key={range}
          type="button"
          class="button"
          aria-pressed={last === range}
          aria-label={`Last ${range}`}
          title={formatLast(range)}
          onClick={() => navigate({ ...ALL, last: range })}
        >
          {range}
        </button>
      ))}
      <button
        type="button"
        class="button"
        aria-pressed={last === null && !isFixed}
        aria-label="All time"
        onClick={() => navigate(ALL)}
      >
        All
      </button>
      <Popup
        class={isTyped ? 'button on' : 'button'}
        kind="dialog"
        label={isTyped ? (last ?? 'Range') : 'Range'}
        title={isTyped ? (formatTimeText(view) ?? '') : 'Type a time range'}
      >
        {(close) => <Field onDone={close} />}
      </Popup>
    </div>
  )
}

function Field({ onDone }: { readonly onDone: () => void }) {
  const id = useId()
  const [isWrong, setWrong] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const range = parseTimeRange(String(new FormData(event.currentTarget).get('range')), new Date())
        setWrong(range === undefined)
        if (range === undefined) return
        navigate(range)
        onDone()
      }}
    >
      <input
        class="field"
        name="range"
        aria-label="Time range"
        aria-invalid={isWrong}
        aria-describedby={id}
        placeholder="2h, 09:00..09:30"
        autocomplete="off"
        onInput={() => setWrong(false)}
      />
      <p id={id} class={isWrong ? 'bad' : 'muted'} role={isWrong ? 'alert' : undefined}>
        {isWrong && 'This is no time range. '}
        For example <code>2h</code>, <code>09:00..09:30</code>, <code>2026-11-20</code>, <code>2026-11-20 18:00..</code>
        , in local time.
      </p>
    </form>
  )
}
