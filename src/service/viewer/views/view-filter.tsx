/** The filter of views other than the list of entries: search, values, time and active terms. */
import { useRef } from 'preact/hooks'
import { useCommands } from '../commands.js'
import { Chips } from '../entries/chips.js'
import { FilterBar } from '../entries/filter-bar.js'
import type { FilterKind } from '../entries/filter-bar.js'
import { useView } from '../use-view.js'
import { Unused } from './unused-filter.js'

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
  const unused = view.chart === null ? [] : [`| ${view.chart}`]
  return (
    <div class="view-filter">
      <FilterBar kind={kind} view={view} search={search} error={error} hasLevels={hasLevels} />
      <Chips view={view} />
      <Unused parts={unused} without={{ chart: null }} />
    </div>
  )
}
