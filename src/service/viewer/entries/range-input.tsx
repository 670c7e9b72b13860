/** A field for a time range: `2h`, `09:00..09:30`, `2026-11-20..2026-11-21`. */
import { useId, useState } from 'preact/hooks'
import { Popup } from '../popup.js'
import { navigate } from '../use-view.js'
import { parseTimeRange } from './typed-range.js'

export function RangeInput() {
  return (
    <Popup class="button small" kind="dialog" label="Range" title="Type a time range">
      {(close) => <Field onDone={close} />}
    </Popup>
  )
}

function Field({ onDone }: { readonly onDone: () => void }) {
  const id = useId()
  const [isWrong, setWrong] = useState(false)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const text = String(new FormData(event.currentTarget).get('range'))
        const range = parseTimeRange(text, new Date())
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
