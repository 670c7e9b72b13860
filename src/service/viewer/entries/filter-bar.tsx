/** The filter of a view: the search, and below it one line with levels, time and fields. */
import type { ComponentChildren, RefObject } from 'preact'
import { useRef } from 'preact/hooks'
import { LEVELS } from '../../../protocol/log-entry.js'
import { formatSearch, listTerms, removeTerm, toggleValue } from '../../query/language/index.js'
import type { LevelCounts } from '../../store/stored-record.js'
import { ApiError, request } from '../api.js'
import { useChanges } from '../changes.js'
import { showNotice } from '../detail/notice.js'
import { Icon } from '../icons.js'
import { keepFocus } from '../keep-focus.js'
import { formatMute, mutes, unmute } from '../mutes.js'
import { Popup } from '../popup.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useObservable } from '../use-observable.js'
import { useQuery } from '../use-query.js'
import { navigate, useView } from '../use-view.js'
import { formatCount, formatShortCount } from '../view-format.js'
import { listFilterParameters } from '../view.js'
import type { Filter } from '../view.js'
import { ALL_FIELDS, FieldPanel } from './field-panel.js'
import { SavedQueries } from './saved-queries.js'
import { SearchBox } from './search-box.js'
import { TimeRange } from './time-range.js'

export type FilterKind = 'entries' | 'requests'

interface FilterBarProps {
  readonly kind: FilterKind
  readonly view: Filter
  readonly search?: RefObject<HTMLInputElement | null>
  /** Error of the view's own request. Query errors are shown below the search field. */
  readonly error?: Error | undefined
  /** Whether the levels of entries are shown. Default true. */
  readonly hasLevels?: boolean
  readonly children?: ComponentChildren
}

export function FilterBar({ kind, view, search: input, error, hasLevels = true, children }: FilterBarProps) {
  const { name, field, columns } = useView()
  const isList = name === 'entries'
  const fieldsButton = useRef<HTMLButtonElement>(null)
  const show = (next: string | null): void => navigate({ field: next }, { replace: true })
  const close = (): void => {
    show(null)
    fieldsButton.current?.focus()
  }
  const search = formatSearch(view)
  const range = error instanceof ApiError ? error.range : undefined
  const problem = range === undefined ? undefined : { q: search, message: error?.message ?? '', ...range }
  const isLastRun = listTerms(view.q).some(({ text }) => text === 'run:last')
  return (
    <div class="filter-bar" role="search" aria-label="Filter">
      <SearchBox kind={kind} q={search} problem={problem} {...(input !== undefined && { input })} />
      <div class="filter-tools">
        <div class="toolbar">
          {kind === 'entries' && hasLevels && <LevelToggles view={view} />}
          <TimeRange view={view} />
          <span class="toolbar-end" />
          <button
            type="button"
            class="button"
            aria-pressed={field === 'service'}
            onClick={() => show(field === 'service' ? null : 'service')}
          >
            Service
          </button>
          <button
            ref={fieldsButton}
            type="button"
            class="button"
            aria-expanded={field !== null}
            onClick={() => show(field === null ? ALL_FIELDS : null)}
          >
            Fields
          </button>
          {kind === 'entries' && (
            <button
              type="button"
              class="button"
              aria-pressed={isLastRun}
              title="Only the runs that log now"
              onClick={() => navigate({ q: toggleValue(view.q, 'run', 'last') })}
            >
              Last run
            </button>
          )}
        </div>
        <div class="pinned">
          {isList && <Mutes />}
          {children}
          <Popup class="button icon" kind="dialog" label="⋯" name="More" title="Export, saved queries">
            {(closeMenu) => (
              <div role="dialog" aria-label="More">
                {isList && (
                  <button
                    type="button"
                    class="menu-item"
                    onClick={() => {
                      closeMenu()
                      void exportEntries(view)
                    }}
                  >
                    Export as NDJSON
                  </button>
                )}
                <SavedQueries view={view} onClose={closeMenu} />
              </div>
            )}
          </Popup>
        </div>
      </div>
      {field !== null && (
        <FieldPanel
          kind={kind}
          view={view}
          field={field}
          columns={isList ? columns : null}
          onShow={show}
          onClose={close}
        />
      )}
    </div>
  )
}

/** Toggles for levels. Counts do not depend on the selected levels. */
function LevelToggles({ view }: { view: Filter }) {
  const version = useChanges('entry')
  const term = listTerms(view.q).find(({ field, isExcluded }) => field === 'level' && !isExcluded)
  const others = useFilterParameters({ ...view, q: term === undefined ? view.q : removeTerm(view.q, term) })
  const counts = useQuery<LevelCounts>('counts', others, version).data
  return (
    <div class="segments" role="group" aria-label="Levels">
      {LEVELS.map((level) => (
        <button
          key={level}
          type="button"
          data-level={level}
          class="button level-toggle"
          aria-pressed={term?.values.includes(level) === true}
          title={counts === undefined ? undefined : `${formatCount(counts[level])} ${level}`}
          onClick={() => navigate({ q: toggleValue(view.q, 'level', level) })}
        >
          {level}
          <span class="count">{counts === undefined ? '' : formatShortCount(counts[level])}</span>
        </button>
      ))}
    </div>
  )
}

function Mutes() {
  const muted = useObservable(mutes)
  if (muted.length === 0) return null
  return (
    <Popup class="button plain" kind="dialog" label={`${muted.length} muted`} title="Muted entries">
      {() => (
        <ul role="dialog" aria-label="Muted" class="mutes" onClickCapture={() => keepFocus('.mutes button')}>
          {muted.map((term) => (
            <li key={term}>
              <code class="cut">{formatMute(term)}</code>
              <button
                type="button"
                class="button plain icon small"
                aria-label={`Unmute ${formatMute(term)}`}
                onClick={() => unmute(term)}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </Popup>
  )
}

async function exportEntries(view: Filter): Promise<void> {
  try {
    const filter = listFilterParameters(view, Date.now(), mutes.value)
    // Sends the token in a header: the browser's download history would store it as part of the URL.
    const response = await request('export', { ...filter, format: 'ndjson' }, {})
    const link = document.createElement('a')
    link.href = URL.createObjectURL(await response.blob())
    link.download = 'entries.ndjson'
    link.click()
    // The browser has read the URL once the click is handled.
    setTimeout(() => URL.revokeObjectURL(link.href))
  } catch (error) {
    showNotice(`The export failed: ${error instanceof Error ? error.message : String(error)}`)
  }
}
