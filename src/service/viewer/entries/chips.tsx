/** The active filters, each with a button that removes it. */
import { Icon } from '../icons.js'
import { navigate } from '../use-view.js'
import { withoutFilters } from '../view.js'
import type { Filters } from '../view.js'
import { createChips } from './filter-names.js'

export function Chips({ filters }: { filters: Filters }) {
  const chips = createChips(filters)
  if (chips.length === 0) return null
  return (
    <div class="chips" role="group" aria-label="Filters that are set">
      {chips.map(({ names, title, value }) => (
        <span key={names.join()} class="filter-chip">
          <span class="filter-chip-title">{title}</span>
          <span class="cut" title={value}>
            {value}
          </span>
          <button
            type="button"
            aria-label={`Remove the filter ${title} ${value}`}
            onClick={() => navigate({ filters: withoutFilters(filters, ...names) })}
          >
            <Icon name="close" />
          </button>
        </span>
      ))}
      <button type="button" class="link-button" onClick={() => navigate({ filters: {} })}>
        Clear all
      </button>
    </div>
  )
}
