/** The entries: filters and search, the chart of their times, and the live list. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { LevelCounts } from '../../store/stored-record.js'
import type { ServiceStatus } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { useCommands } from '../commands.js'
import { plural } from '../view-format.js'
import { Icon } from '../icons.js'
import { Empty, Problem } from '../components.js'
import { Connect } from '../shell/connect.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { filterKey } from '../view.js'
import type { View } from '../view.js'
import { Chips } from './chips.js'
import { FilterBar } from './filter-bar.js'
import { Histogram } from './histogram.js'
import { List } from './list.js'
import type { ListHandle } from './list.js'
import { useFeed } from './use-feed.js'

export function EntriesView({ view, status }: { view: View; status: ServiceStatus | undefined }) {
  const { filters, entry } = view
  const [feed, version] = useFeed(filters)
  const { tail } = feed
  const [isPaused, setPaused] = useState(false)
  const [selected, setSelected] = useState(entry)
  const list = useRef<ListHandle>(null)
  const search = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (entry !== null) setSelected(entry)
  }, [entry])
  const key = filterKey(filters)
  const shown = useRef(key)
  useEffect(() => {
    if (shown.current !== key) list.current?.toTop()
    shown.current = key
  }, [key])

  const open = (id: string): void => {
    setSelected(id)
    navigate({ entry: id }, { replace: entry !== null })
  }
  const step = (by: 1 | -1): void => {
    const from = selected === null ? -1 : tail.indexOf(selected)
    const index = from === -1 ? (list.current?.firstVisible() ?? 0) : from + by
    const row = tail.at(index)
    if (row === undefined) return
    list.current?.reveal(index)
    if (entry === null) setSelected(row.id)
    else open(row.id)
  }
  const toTop = (): void => {
    setPaused(false)
    list.current?.toTop()
  }
  useCommands({
    next: () => step(1),
    previous: () => step(-1),
    open: () => selected !== null && open(selected),
    pause: () => setPaused(!isPaused),
    top: () => list.current?.toTop(),
    search: () => search.current?.select(),
  })

  const isFiltered = Object.keys(filters).length > 0
  const isEmpty = feed.isLoaded && tail.length === 0
  const isNew = isEmpty && !isFiltered && !isPaused && status !== undefined
  return (
    <div class="entries">
      <h1 class="visually-hidden">Entries</h1>
      <FilterBar filters={filters} isPaused={isPaused} waiting={tail.waiting} onPause={setPaused} search={search} />
      <Chips filters={filters} />
      {!isNew && <Histogram filters={filters} />}
      {feed.error !== undefined && <Problem error={feed.error} />}
      {isNew ? (
        <Connect status={status} />
      ) : isEmpty && tail.waiting === 0 && isFiltered ? (
        <NothingMatches />
      ) : (
        <List
          handle={list}
          feed={feed}
          version={version}
          selected={selected}
          isOpen={entry !== null}
          isPaused={isPaused}
          onOpen={open}
          onNewest={toTop}
        />
      )}
    </div>
  )
}

function NothingMatches() {
  const changes = useChanges('entry')
  const total = useQuery<LevelCounts>('counts', {}, changes).data?.total
  return (
    <Empty title="No entry matches">
      <p>
        {total === undefined
          ? 'There may be others.'
          : `${plural(total, 'entry is', 'entries are')} stored, and none matches all filters.`}{' '}
        New ones that match will show here.
      </p>
      <button type="button" class="button" onClick={() => navigate({ filters: {} })}>
        <Icon name="close" />
        Clear all filters
      </button>
    </Empty>
  )
}
