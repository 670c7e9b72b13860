/** The view "entries": filter, histogram and live list. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { LevelCounts } from '../../store/stored-record.js'
import type { ServiceStatus } from '../../query/api-types.js'
import { ApiError } from '../api-error.js'
import { useChanges } from '../changes.js'
import { useCommands } from '../commands.js'
import { formatPlural } from '../view-format.js'
import { Icon } from '../icons.js'
import { Empty, Problem } from '../components.js'
import { Connect } from '../shell/connect.js'
import { focusDetail, isDetailFocused } from '../shell/detail-panel.js'
import { useObservable } from '../use-observable.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { createFilterKey, createHref, isFiltered as hasFilter, NO_FILTER } from '../view.js'
import type { View } from '../view.js'
import { AroundBar } from './around-bar.js'
import { ChartPanel } from './chart.js'
import { Chips } from './chips.js'
import { ColumnsMenu } from './columns-menu.js'
import { ExportMenu } from './export-menu.js'
import { FilterBar } from './filter-bar.js'
import { Histogram } from './histogram.js'
import { List } from './list.js'
import type { ListHandle } from './list.js'
import { PauseButton } from './pause-button.js'
import { paused } from './paused.js'
import { useFeed } from './use-feed.js'
import { canGoBack, goBack } from './zoom.js'

export function EntriesView({ view, status }: { view: View; status: ServiceStatus | undefined }) {
  const { entry, around } = view
  const feed = useFeed(view)
  const { tail } = feed
  const isPaused = useObservable(paused)
  const comments = useChanges('feedback')
  useEffect(() => {
    if (comments > 0) feed.refresh()
  }, [comments])
  const [selected, setSelected] = useState(entry)
  const list = useRef<ListHandle>(null)
  const search = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (entry !== null) setSelected(entry)
  }, [entry])
  const key = JSON.stringify([createFilterKey(view), around])
  const shown = useRef(key)
  useEffect(() => {
    if (shown.current === key) return
    shown.current = key
    // Resets the selection: the row may not match the new filter, and a selection freezes the list.
    setSelected(entry)
    list.current?.toTop()
  }, [key])
  // Once the marked entry is loaded, it is scrolled to the middle.
  const isUnknown = around !== null && feed.error instanceof ApiError && feed.error.status === 404
  const isAroundLoaded = around !== null && feed.isLoaded && tail.indexOf(around) !== -1
  useEffect(() => {
    if (around !== null && isAroundLoaded) list.current?.reveal(tail.indexOf(around), 'middle')
  }, [around, isAroundLoaded])

  const open = (id: string, isNewTab = false): void => {
    if (isNewTab) return void window.open(createHref({ ...view, entry: id }), '_blank', 'noopener')
    setSelected(id)
    navigate({ entry: id }, { replace: entry !== null })
  }
  const step = (by: 1 | -1): void => {
    const from = selected === null ? -1 : tail.indexOf(selected)
    const index = from === -1 ? (list.current?.firstVisible() ?? 0) : from + by
    const row = tail.at(index)
    if (row === undefined) return
    list.current?.reveal(index)
    if (!isDetailFocused()) list.current?.focus()
    if (entry === null) setSelected(row.entry.id)
    else open(row.entry.id)
  }
  const toTop = (): void => {
    if (entry === null) setSelected(null)
    list.current?.toTop()
  }
  const toNewest = (): void => {
    paused.set(false)
    if (entry !== null) navigate({ entry: null })
    setSelected(null)
    list.current?.toTop()
  }
  useCommands({
    next: () => step(1),
    previous: () => step(-1),
    open: () => {
      if (selected === null) return
      open(selected)
      focusDetail()
    },
    close: () => {
      if (entry !== null) {
        if (isDetailFocused()) list.current?.focus()
        navigate({ entry: null })
      } else if (selected !== null) setSelected(null)
      else if (around !== null) navigate({ around: null })
      else if (canGoBack()) goBack()
      else if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
    },
    pause: () => paused.set(!isPaused),
    top: toTop,
    search: () => search.current?.select(),
  })

  const isFiltered = hasFilter(view)
  const isEmpty = feed.isLoaded && tail.length === 0 && around === null
  const isNew = isEmpty && !isFiltered && !isPaused && status !== undefined
  return (
    <div class="entries">
      <h1 class="visually-hidden">Entries</h1>
      <FilterBar kind="entries" view={view} search={search} error={feed.error}>
        <ColumnsMenu columns={view.columns} />
        <ExportMenu view={view} />
        <PauseButton isPaused={isPaused} waiting={tail.waiting} onPause={(next) => paused.set(next)} />
      </FilterBar>
      <Chips view={view} />
      {around === null &&
        !isNew &&
        (view.chart === null ? <Histogram view={view} /> : <ChartPanel view={view} text={view.chart} />)}
      {around !== null && (
        <AroundBar isFound={isAroundLoaded || !(feed.isLoaded || isUnknown)} isFiltered={isFiltered} />
      )}
      {!isUnknown && <Problem error={feed.error} />}
      {isNew ? (
        <Connect status={status} />
      ) : !feed.isLoaded && tail.length === 0 && feed.error === undefined ? (
        <p class="list-loading" role="status">
          Loading …
        </p>
      ) : isEmpty && tail.waiting === 0 && isFiltered ? (
        <NothingMatches />
      ) : (
        <List
          handle={list}
          feed={feed}
          columns={view.columns}
          selected={selected}
          marked={around}
          isOpen={entry !== null}
          isPaused={isPaused}
          onOpen={open}
          onNewest={toNewest}
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
          ? 'Others may exist.'
          : `${formatPlural(total, 'entry is', 'entries are')} stored, and none matches the filter.`}{' '}
        New matches appear here.
      </p>
      <button type="button" class="button" onClick={() => navigate(NO_FILTER)}>
        <Icon name="close" />
        Clear the filter
      </button>
    </Empty>
  )
}
