/** The terms of the query and the time range, each with a button that removes it. */
import { Icon } from '../icons.js'
import { listTerms, removeTerm } from '../../query/language/index.js'
import { keepFocus } from '../keep-focus.js'
import { navigate } from '../use-view.js'
import { NO_FILTER } from '../view.js'
import type { Filter, View } from '../view.js'
import { formatTimeText } from './time-text.js'

const NO_TIME: Partial<View> = { last: null, since: null, until: null }

export function Chips({ view }: { view: Filter }) {
  const terms = listTerms(view.q)
  const time = formatTimeText(view)
  const { chart } = view
  if (terms.length === 0 && time === null && chart === null) return null
  return (
    <div class="chips" role="group" aria-label="Active filters" onClickCapture={() => keepFocus('.chips button')}>
      {terms.map((term) => (
        <Chip
          key={term.start}
          text={term.text}
          isExcluded={term.isExcluded}
          onRemove={() => navigate({ q: removeTerm(view.q, term) })}
        />
      ))}
      {chart !== null && <Chip text={`| ${chart}`} isExcluded={false} onRemove={() => navigate({ chart: null })} />}
      {time !== null && <Chip text={time} isExcluded={false} onRemove={() => navigate(NO_TIME)} />}
      <button type="button" class="link-button" onClick={() => navigate(NO_FILTER)}>
        Clear all
      </button>
    </div>
  )
}

interface ChipProps {
  readonly text: string
  readonly isExcluded: boolean
  readonly onRemove: () => void
}

function Chip({ text, isExcluded, onRemove }: ChipProps) {
  const shown = isExcluded ? text.replace(/^(?:-|NOT\s+)/, '') : text
  return (
    <span class={isExcluded ? 'filter-chip excluded' : 'filter-chip'}>
      {isExcluded && (
        <span class="filter-chip-not">
          <Icon name="exclude" />
          not
        </span>
      )}
      <span class="cut" title={text}>
        {shown}
      </span>
      <button type="button" aria-label={`Remove the filter ${text}`} onClick={onRemove}>
        <Icon name="close" />
      </button>
    </span>
  )
}
