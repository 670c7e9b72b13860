/** The filter of a view: query, levels, field values and time. */
import type { ComponentChildren, RefObject } from 'preact'
import { useState } from 'preact/hooks'
import { ApiError } from '../api-error.js'
import { Icon } from '../icons.js'
import { formatSearch, listTerms } from '../../query/language/index.js'
import type { Filter } from '../view.js'
import { LevelToggles } from './levels.js'
import { Picker } from './picker.js'
import { SavedQueries } from './saved-queries.js'
import { SearchBox } from './search-box.js'
import { TimeRange } from './time-range.js'

export type FilterKind = 'entries' | 'requests'

/** Fields with a picker for their values. */
const PICKERS: Readonly<Record<FilterKind, readonly (readonly [field: string, title: string])[]>> = {
  entries: [
    ['service', 'Service'],
    ['environment', 'Environment'],
    ['version', 'Version'],
    ['release_id', 'Release'],
    ['tag', 'Tag'],
  ],
  requests: [
    ['service', 'Service'],
    ['environment', 'Environment'],
    ['method', 'Method'],
    ['status', 'Status'],
  ],
}

interface FilterBarProps {
  readonly kind: FilterKind
  readonly view: Filter
  /** The search field, for the command that focuses it. */
  readonly search?: RefObject<HTMLInputElement | null>
  /** Error of the view's own request. Query errors are shown below the search field. */
  readonly error?: Error | undefined
  /** Whether the levels of entries are shown. Default true. */
  readonly hasLevels?: boolean
  /** Additional buttons at the end. */
  readonly children?: ComponentChildren
}

export function FilterBar({ kind, view, search: input, error, hasLevels = true, children }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false)
  const terms = listTerms(view.q).length
  const search = formatSearch(view)
  const range = error instanceof ApiError ? error.range : undefined
  const problem = range === undefined ? undefined : { q: search, message: error?.message ?? '', ...range }
  return (
    <div class={isOpen ? 'filter-bar open' : 'filter-bar'} role="search" aria-label="Filter">
      <SearchBox kind={kind} q={search} problem={problem} {...(input !== undefined && { input })} />
      {kind === 'entries' && hasLevels && <LevelToggles view={view} />}
      <button
        type="button"
        class="button filter-toggle"
        aria-expanded={isOpen}
        aria-controls="pickers"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="filter" />
        Filters{terms > 0 && ` (${terms})`}
      </button>
      <div class="pickers" id="pickers">
        {PICKERS[kind].map(([field, title]) => (
          <Picker key={field} kind={kind} field={field} title={title} view={view} />
        ))}
      </div>
      <div class="filter-tools">
        <TimeRange view={view} />
        <SavedQueries view={view} />
        {children}
      </div>
    </div>
  )
}
