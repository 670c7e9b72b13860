/** Saves the filter under a name, and applies or deletes saved filters. */
import { formatSearch } from '../../query/language/index.js'
import { showNotice } from '../detail/notice.js'
import { Icon } from '../icons.js'
import { keepFocus } from '../keep-focus.js'
import { openStoredList } from '../stored-choice.js'
import { useObservable } from '../use-observable.js'
import { navigate } from '../use-view.js'
import { isFiltered, pickFilter, readLast } from '../view.js'
import type { Filter } from '../view.js'
import { formatTimeText } from './time-text.js'

const MAX_SAVED = 100

interface SavedQuery extends Filter {
  readonly name: string
}

const saved = openStoredList('pino-ingest.queries', parseSavedQuery)

function parseSavedQuery(stored: unknown): SavedQuery | undefined {
  const { name, q, chart, last, since, until } = (stored ?? {}) as Readonly<Record<string, unknown>>
  if (typeof name !== 'string' || typeof q !== 'string') return undefined
  const text = (value: unknown): string | null => (typeof value === 'string' ? value : null)
  return { name, q, chart: text(chart), last: readLast(last), since: text(since), until: text(until) }
}

export function SavedQueries({ view, onClose }: { view: Filter; onClose: () => void }) {
  const queries = useObservable(saved)
  const save = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const name = String(new FormData(form).get('name')).trim()
    if (name === '') return
    const isStored = saved.change((all) =>
      [{ name, ...pickFilter(view) }, ...all.filter((one) => one.name !== name)].slice(0, MAX_SAVED),
    )
    showNotice(isStored ? `Saved ${name}` : 'Saved only in this tab: the browser blocks storage')
    form.reset()
  }
  return (
    <section class="saved" aria-label="Saved queries">
      <h2>Saved queries</h2>
      {isFiltered(view) || view.chart !== null ? (
        <form onSubmit={save}>
          <input
            class="field"
            name="name"
            aria-label="Name of the query"
            placeholder="Name of this query"
            autocomplete="off"
            maxLength={100}
          />
          <button type="submit" class="button">
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
              class="menu-item"
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
              class="button plain icon small"
              aria-label={`Delete ${one.name}`}
              onClick={() => {
                keepFocus('.saved input, .saved li .icon')
                saved.change((all) => all.filter(({ name }) => name !== one.name))
              }}
            >
              <Icon name="close" />
            </button>
          </li>
        ))}
      </ul>
    </section>
  )
}
