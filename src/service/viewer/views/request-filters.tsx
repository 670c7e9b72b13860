/** Buttons for common request filters: slow or failed requests. They edit the query. */
import { listTerms, removeTerm, setComparison } from '../../query/language/index.js'
import { navigate, useView } from '../use-view.js'

const CHOICES = [
  ['duration', '>', 200, 'Over 200 ms'],
  ['duration', '>', 1000, 'Over 1 s'],
  ['status', '>=', 400, '4xx and 5xx'],
  ['status', '>=', 500, '5xx'],
] as const

export function RequestFilters() {
  const { q } = useView()
  const terms = listTerms(q)
  return (
    <div class="request-filters" role="group" aria-label="Requests">
      {CHOICES.map(([field, operator, value, text]) => {
        const set = terms.find(
          (term) => term.field === field && !term.isExcluded && term.values.join() === `${operator}${value}`,
        )
        return (
          <button
            key={text}
            type="button"
            class="button small"
            aria-pressed={set !== undefined}
            onClick={() =>
              navigate({ q: set === undefined ? setComparison(q, field, operator, value) : removeTerm(q, set) })
            }
          >
            {text}
          </button>
        )
      })}
    </div>
  )
}
