/** Toggles for levels. Counts do not depend on the selected levels. */
import { LEVELS } from '../../../protocol/log-entry.js'
import type { LevelCounts } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { listTerms, removeTerm, toggleValue } from '../../query/language/index.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { formatCount, formatShortCount } from '../view-format.js'
import type { Filter } from '../view.js'

export function LevelToggles({ view }: { view: Filter }) {
  const version = useChanges('entry')
  const term = listTerms(view.q).find(({ field, isExcluded }) => field === 'level' && !isExcluded)
  const others = useFilterParameters({ ...view, q: term === undefined ? view.q : removeTerm(view.q, term) })
  const counts = useQuery<LevelCounts>('counts', others, version).data
  return (
    <div class="levels" role="group" aria-label="Levels">
      {LEVELS.map((level) => (
        <button
          key={level}
          type="button"
          class={`level-toggle level-toggle-${level}`}
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
