/** Which of the address's filters narrow a view that has no filter bar, and how to be rid of them. */
import { createChips } from '../entries/filter-names.js'
import { Icon } from '../icons.js'
import { useView } from '../use-view.js'
import { createHref, withoutFilters } from '../view.js'
import type { FilterName, Filters } from '../view.js'

/** Those that the view's query takes. */
export function pickFilters(filters: Filters, names: readonly FilterName[]): Filters {
  return Object.fromEntries(names.flatMap((name) => (filters[name] === undefined ? [] : [[name, filters[name]]])))
}

/** Others stay as they are, for the views that take them. */
export function ActiveFilters({ names }: { readonly names: readonly FilterName[] }) {
  const view = useView()
  const chips = createChips(pickFilters(view.filters, names))
  if (chips.length === 0) return null
  const without = (gone: readonly FilterName[]) =>
    createHref({ ...view, filters: withoutFilters(view.filters, ...gone) })
  return (
    <div class="active-filters" role="group" aria-label="Filters that are set">
      {chips.map(({ names: gone, title, value }) => (
        <span key={gone.join()} class="filter-chip">
          <span class="filter-chip-title">{title}</span>
          <span class="cut" title={value}>
            {value}
          </span>
          <a href={without(gone)} aria-label={`Remove the filter ${title}`}>
            <Icon name="close" />
          </a>
        </span>
      ))}
      <a href={without(names)}>Clear all</a>
    </div>
  )
}
