/** Saves the filter under a name, and applies or deletes saved filters. */
import { useState } from 'preact/hooks'
import { formatSearch } from '../../query/language/index.js'
import { showNotice } from '../detail/notice.js'
import { Icon } from '../icons.js'
import { Popup } from '../popup.js'
import { keepFocus } from '../keep-focus.js'
import { useObservable } from '../use-observable.js'
import { navigate } from '../use-view.js'
import { isFiltered, pickFilter } from '../view.js'
import type { Filter } from '../view.js'
import { SavedQueryStore } from './saved-query-store.js'
import type { SavedQuery } from './saved-query.js'
import { formatTimeText } from './time-text.js'

export const saved = new SavedQueryStore(() => localStorage)
addEventListener('storage', () => saved.read())

/** Whether the browser shows notifications of this page. */
export function isPermitted(): boolean {
  return typeof Notification !== 'undefined' && Notification.permission === 'granted'
}

const NOT_PERMITTED =
  'The browser does not show notifications of this page. Allow them in its settings for this site, beside the address, then switch Notify on again.'
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
  const [isRefused, setRefused] = useState(false)
  const toggleNotify = async (query: SavedQuery): Promise<void> => {
    const isOn = query.notify && isPermitted()
    // Asks only here: browsers refuse a page that asks without a click.
    if (!isOn && typeof Notification !== 'undefined') await Notification.requestPermission()
    setRefused(!isOn && !isPermitted())
    saved.setNotify(query.name, !isOn && isPermitted())
  }
  const save = (event: SubmitEvent): void => {
    event.preventDefault()
    if (name.trim() === '') return
    showNotice(saved.save(name.trim(), view) ? `Saved ${name.trim()}` : NOT_STORED)
    setName('')
  }
  return (
    <div role="dialog" aria-label="Saved queries" class="saved">
      {isFiltered(view) || view.chart !== null ? (
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
      {isRefused && (
        <p class="problem" role="alert">
          {NOT_PERMITTED}
        </p>
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
              <span class="cut faint">{[formatSearch(one), formatTimeText(one)].filter(Boolean).join(' · ')}</span>
            </button>
            <button
              type="button"
              class="quiet"
              role="switch"
              aria-checked={one.notify && isPermitted()}
              aria-label={`Notify of ${one.name}`}
              title="Notification of the browser for new entries, while the page is open"
              onClick={() => void toggleNotify(one)}
            >
              Notify
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
