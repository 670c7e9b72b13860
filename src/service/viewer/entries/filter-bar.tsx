/** Search, levels, pickers for values, and the pause button. */
import type { Ref } from 'preact'
import { useState } from 'preact/hooks'
import { LEVELS } from '../../../protocol/log-entry.js'
import type { Level } from '../../../protocol/log-entry.js'
import type { LevelCounts } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { count, shortCount } from '../view-format.js'
import { Icon } from '../icons.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { withFilter, withoutFilters } from '../view.js'
import type { Filters } from '../view.js'
import { toggledLevel } from './levels.js'
import { Picker } from './picker.js'
import { SearchBox } from './search-box.js'
import { useSlowly } from './use-slowly.js'

const PICKERS = ['service', 'environment', 'version', 'release_id', 'tag'] as const
const REFRESH_MS = 2000

interface FilterBarProps {
  readonly filters: Filters
  readonly isPaused: boolean
  /** Entries that arrived while the list is paused. */
  readonly waiting: number
  readonly onPause: (isPaused: boolean) => void
  readonly search: Ref<HTMLInputElement>
}

export function FilterBar({ filters, isPaused, waiting, onPause, search }: FilterBarProps) {
  const [isOpen, setOpen] = useState(false)
  const set = Object.keys(withoutFilters(filters, 'q', 'since', 'until')).length
  return (
    <div class={isOpen ? 'filter-bar open' : 'filter-bar'} role="search" aria-label="Entries">
      <SearchBox filters={filters} input={search} />
      <LevelToggles filters={filters} />
      <div class="pickers" id="pickers">
        {PICKERS.map((name) => (
          <Picker key={name} name={name} filters={filters} />
        ))}
      </div>
      <button
        type="button"
        class="button filter-toggle"
        aria-expanded={isOpen}
        aria-controls="pickers"
        onClick={() => setOpen(!isOpen)}
      >
        <Icon name="filter" />
        Filters{set > 0 && ` (${set})`}
      </button>
      <button
        type="button"
        class="button pause"
        aria-pressed={isPaused}
        onClick={() => onPause(!isPaused)}
        title={isPaused ? 'Resume (p)' : 'Pause (p)'}
      >
        <Icon name={isPaused ? 'play' : 'pause'} />
        <span class="word">{isPaused ? 'Paused' : 'Pause'}</span>
        {isPaused && waiting > 0 && (
          <span class="count">
            {shortCount(waiting)}
            <span class="visually-hidden"> new</span>
          </span>
        )}
      </button>
    </div>
  )
}

/** Each shows its count, independent of the selected levels. */
function LevelToggles({ filters }: { filters: Filters }) {
  const version = useSlowly(useChanges('entry'), REFRESH_MS)
  const counts = useQuery<LevelCounts>('counts', withoutFilters(filters, 'level'), version).data
  const chosen = filters.level?.split(',') ?? []
  const toggle = (level: Level): void =>
    navigate({ filters: withFilter(filters, 'level', toggledLevel(filters.level, level)) })
  return (
    <div class="levels" role="group" aria-label="Levels">
      {LEVELS.map((level) => (
        <button
          key={level}
          type="button"
          class={`level-toggle level-toggle-${level}`}
          aria-pressed={chosen.includes(level)}
          title={counts === undefined ? undefined : `${count(counts[level])} ${level}`}
          onClick={() => toggle(level)}
        >
          {level}
          <span class="count">{counts === undefined ? '' : shortCount(counts[level])}</span>
        </button>
      ))}
    </div>
  )
}
