/** The view "entries": filter, histogram and live list. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { LevelCounts } from '../../store/stored-record.js'
import type { ServiceStatus } from '../../query/api-types.js'
import { ApiError } from '../api-error.js'
import { useChanges } from '../changes.js'
import { useCommands } from '../commands.js'
import { formatPlural, formatShortCount } from '../view-format.js'
import { Icon } from '../icons.js'
import { Empty, Problem } from '../components.js'
import { Connect } from '../shell/connect.js'
import { focusDetail, isDetailFocused } from '../shell/detail-panel.js'
import { mutes } from '../mutes.js'
import { useObservable } from '../use-observable.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { createFilterKey, createHref, isFiltered as hasFilter, NO_FILTER } from '../view.js'
import type { View } from '../view.js'
import { ChartPanel } from './chart.js'
import { FilterBar } from './filter-bar.js'
import { Histogram } from './histogram.js'
import { List } from './list.js'
import type { ListHandle } from './list.js'
import { paused, useFeed } from './use-feed.js'
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
    const row = tail.rows[index]
    if (row === undefined) return
    list.current?.reveal(index)
    if (!isDetailFocused()) list.current?.focus()
    if (entry === null) setSelected(row.id)
    else open(row.id)
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
  const isEmpty = feed.isLoaded && tail.rows.length === 0 && tail.waiting === 0 && around === null
  const isMuted = useObservable(mutes).length > 0
  const isNew = isEmpty && !isFiltered && !isMuted && !isPaused && status !== undefined
  return (
    <div class="entries">
      <h1 class="visually-hidden">Entries</h1>
      <FilterBar kind="entries" view={view} search={search} error={feed.error}>
        <button
          type="button"
          class="button pause"
          aria-pressed={isPaused}
          onClick={() => paused.set(!isPaused)}
          title={isPaused ? 'Resume (p)' : 'Pause (p)'}
        >
          <Icon name={isPaused ? 'play' : 'pause'} />
          <span class="word">{isPaused ? 'Paused' : 'Pause'}</span>
          {isPaused && tail.waiting > 0 && (
            <span class="count">
              {formatShortCount(tail.waiting)}
              <span class="visually-hidden"> new</span>
            </span>
          )}
        </button>
      </FilterBar>
      {around === null &&
        !isNew &&
        (view.chart === null ? <Histogram view={view} /> : <ChartPanel view={view} text={view.chart} />)}
      {around !== null && (
        <p class="around-bar toolbar" role="status">
          <span>
            {isAroundLoaded || !(feed.isLoaded || isUnknown)
              ? 'All entries around the marked one, without the filter. New entries are not added.'
              : 'The entry of this address is not stored.'}
          </span>
          <button type="button" class="button small" onClick={() => navigate({ around: null })}>
            {isFiltered ? 'Back to the filtered list' : 'Back to the live list'}
          </button>
        </p>
      )}
      {!isUnknown && <Problem error={feed.error} />}
      {isNew ? (
        <Connect status={status} />
      ) : !feed.isLoaded && tail.rows.length === 0 && feed.error === undefined ? (
        <p class="empty" role="status">
          Loading …
        </p>
      ) : isEmpty && (isFiltered || isMuted) ? (
        <NothingMatches isFiltered={isFiltered} isMuted={isMuted} />
      ) : (
        <List
          handle={list}
          feed={feed}
          q={around === null ? view.q : ''}
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

function NothingMatches({ isFiltered, isMuted }: { isFiltered: boolean; isMuted: boolean }) {
  const changes = useChanges('entry')
  const total = useQuery<LevelCounts>('counts', {}, changes).data?.total
  const reason = isFiltered ? `stored, and none${isMuted ? ' that is not muted' : ''} matches the filter` : 'muted'
  return (
    <Empty title="No entry matches">
      <p>
        {total === undefined ? 'Others may exist.' : `${formatPlural(total, 'entry is', 'entries are')} ${reason}.`} New
        matches appear here.
      </p>
      {isFiltered && (
        <button type="button" class="button" onClick={() => navigate(NO_FILTER)}>
          <Icon name="close" />
          Clear the filter
        </button>
      )}
    </Empty>
  )
}
