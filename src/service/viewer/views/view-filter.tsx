/** The filter of views other than the list of entries, and what a view does not use of it. */
import { useRef } from 'preact/hooks'
import { REQUEST_FIELDS, formatSearch, hasField, listTerms, removeTerm } from '../../query/language/index.js'
import { useCommands } from '../commands.js'
import { FilterBar } from '../entries/filter-bar.js'
import type { FilterKind } from '../entries/filter-bar.js'
import { formatTimeText } from '../entries/time-text.js'
import { navigate, useView } from '../use-view.js'
import { NO_FILTER } from '../view.js'
import type { Filter } from '../view.js'

interface ViewFilterProps {
  readonly kind: FilterKind
  /** Error of the view's own request. */
  readonly error: Error | undefined
  /** Default true. */
  readonly hasLevels?: boolean
}

export function ViewFilter({ kind, error, hasLevels = true }: ViewFilterProps) {
  const view = useView()
  const search = useRef<HTMLInputElement>(null)
  useCommands({ search: () => search.current?.select() })
  return (
    <div class="view-filter">
      <FilterBar kind={kind} view={view} search={search} error={error} hasLevels={hasLevels} />
      <Unused parts={view.chart === null ? [] : [`| ${view.chart}`]} without={{ chart: null }} />
    </div>
  )
}

/** The query without terms for fields that request logs do not have, and these terms. */
export function splitRequestQuery(q: string): { readonly q: string; readonly unused: readonly string[] } {
  const unused = listTerms(q).filter(({ text }) => hasField(text, (field) => !REQUEST_FIELDS.has(field)))
  return { q: unused.reduceRight(removeTerm, q), unused: unused.map(({ text }) => text) }
}

/** For a view that has no filter. */
export function UnusedFilter() {
  const view = useView()
  const parts = [formatSearch(view).trim(), formatTimeText(view) ?? ''].filter((part) => part !== '')
  return <Unused parts={parts} without={NO_FILTER} />
}

/** @param without the filter that removes the parts */
export function Unused({ parts, without }: { readonly parts: readonly string[]; readonly without: Partial<Filter> }) {
  if (parts.length === 0) return null
  return (
    <p class="note" role="note">
      This view does not use{' '}
      {parts.map((part, at) => (
        <span key={at}>
          {at > 0 && ', '}
          <code>{part}</code>
        </span>
      ))}
      .{' '}
      <button type="button" class="link-button" onClick={() => navigate(without)}>
        Remove it from the filter
      </button>
    </p>
  )
}
