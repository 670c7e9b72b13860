/** Saves the filter under a name, and applies or deletes saved filters. */
import { useState } from 'preact/hooks'
import { showNotice } from '../detail/notice.js'
import { Icon } from '../icons.js'
import { Popup } from '../popup.js'
import { keepFocus } from '../keep-focus.js'
import { useObservable } from '../use-observable.js'
import { navigate } from '../use-view.js'
import { isFiltered, pickFilter } from '../view.js'
import type { Filter } from '../view.js'
import { SavedQueryStore } from './saved-query-store.js'
import { formatTimeText } from './time-text.js'

const saved = new SavedQueryStore(() => localStorage)
addEventListener('storage', () => saved.read())

const NOT_STORED = 'The browser does not store it: it is lost when this tab closes'

export function SavedQueries({ view }: { view: Filter }) {
  const label = (
    <>
      <Icon name="save" />
      <span class="word">Saved</span>
    </>
  )
  return (
    <Popup label={label} title="Saved queries" kind="dialog">
      {(close) => <Panel view={view} onClose={close} />}
    </Popup>
  )
}

function Panel({ view, onClose }: { view: Filter; onClose: () => void }) {
  const queries = useObservable(saved.queries)
  const [name, setName] = useState('')
  const save = (event: SubmitEvent): void => {
    event.preventDefault()
    if (name.trim() === '') return
    showNotice(saved.save(name.trim(), view) ? `Saved ${name.trim()}` : NOT_STORED)
    setName('')
  }
  return (
    <div role="dialog" aria-label="Saved queries" class="saved">
      {isFiltered(view) ? (
        <form onSubmit={save}>
          <input
            class="field"
            type="text"
            aria-label="Name of the query"
            placeholder="Name of this query"
            maxLength={100}
            value={name}
            onInput={(event) => setName((event.currentTarget as HTMLInputElement).value)}
          />
          <button type="submit" class="button" disabled={name.trim() === ''}>
            Save
          </button>
        </form>
      ) : (
        <p class="faint">Search or choose a time first.</p>
      )}
      <ul>
        {queries.map((one) => (
          <li key={one.name}>
            <button
              type="button"
              class="saved-query"
              onClick={() => {
                navigate(pickFilter(one))
                onClose()
              }}
            >
              <b class="cut">{one.name}</b>
              <span class="cut faint">{[one.q, formatTimeText(one)].filter(Boolean).join(' · ')}</span>
            </button>
            <button
              type="button"
              class="button plain icon small"
              aria-label={`Delete ${one.name}`}
              onClick={() => {
                keepFocus('.saved input, .saved li .icon')
                saved.delete(one.name)
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
    </div>
  )
}
