/** The virtual list of entries: only visible rows are in the document; all have the same height. */
import type { RefObject } from 'preact'
import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { formatPlural } from '../view-format.js'
import { Icon } from '../icons.js'
import { useSize } from '../use-size.js'
import type { EntrySummary } from '../../query/api-types.js'
import type { EntryFeed } from '../live/entry-feed.js'
import { useRuns } from '../use-runs.js'
import { findDividers, findDrawn, findLine, findRowAt } from './lines.js'
import { ListHead, Row } from './row.js'
import { createHitSplitter, toLocalDay } from '../row-text.js'
import { usePointerOver, usePress } from './use-pointer.js'

const ROW_PX = 28
const NARROW_ROW_PX = 50
/** Height of the column headers; narrow windows have none. */
const HEAD_PX = 26
/** New entries are announced to screen readers at intervals. */
const ANNOUNCE_MS = 5000

export interface ListHandle {
  toTop(): void
  reveal(index: number, place?: 'nearest' | 'middle'): void
  firstVisible(): number
  focus(): void
}

interface ListProps {
  readonly handle: RefObject<ListHandle | null>
  readonly feed: EntryFeed
  readonly q: string
  readonly columns: readonly string[]
  readonly selected: string | null
  readonly marked: string | null
  readonly isOpen: boolean
  readonly isPaused: boolean
  readonly onOpen: (id: string, isNewTab?: boolean) => void
  readonly onNewest: () => void
}

export function List({ handle, feed, q, columns, selected, marked, isOpen, isPaused, onOpen, onNewest }: ListProps) {
  const { tail } = feed
  const { rows } = tail
  const isNarrow = useNarrow()
  const rowPx = isNarrow ? NARROW_ROW_PX : ROW_PX
  const headPx = isNarrow ? 0 : HEAD_PX
  const [topPx, setTop] = useState(0)
  const { ref: scroller, height: heightPx } = useSize<HTMLDivElement>(600)
  const { isOver, release, ...over } = usePointerOver()
  const { isPressed, ...press } = usePress(onOpen)
  // Rows must not move while the user reads or points at them.
  const isReading = isOpen || selected !== null || isOver || isPressed
  const isFrozen = isPaused || isReading || topPx > 0 || marked !== null
  useLayoutEffect(() => feed.freeze(isFrozen), [feed, isFrozen])

  const runs = useRuns()
  const shownRuns = useRef(runs)
  if (!isFrozen || shownRuns.current.length === 0) shownRuns.current = runs
  const dividers = useMemo(() => findDividers(rows, shownRuns.current), [rows, shownRuns.current])
  const { lines, drawn, firstLine, firstRow, endRow } = findDrawn(dividers, rows.length, { topPx, heightPx, rowPx })
  const toTop = (): void => {
    scroller.current?.scrollTo({ top: 0 })
    setTop(0)
    release()
  }
  const reveal = (index: number, place: 'nearest' | 'middle' = 'nearest'): void => {
    const element = scroller.current
    if (element === null) return
    const at = findLine(dividers, index) * rowPx
    const roomPx = element.clientHeight - headPx
    if (place === 'middle') element.scrollTo({ top: at - roomPx / 2 })
    else if (at < element.scrollTop) element.scrollTo({ top: at })
    else if (at + rowPx > element.scrollTop + roomPx) element.scrollTo({ top: at + rowPx - roomPx })
  }
  useImperativeHandle(handle, () => ({
    toTop,
    reveal,
    firstVisible: () => findRowAt(dividers, Math.ceil((scroller.current?.scrollTop ?? 0) / rowPx)),
    focus: () => scroller.current?.focus({ preventScroll: true }),
  }))
  useEffect(() => feed.need(endRow))
  // Keeps visible rows in place when newer ones are added on top of a list around an entry.
  const top = useRef<string | null>(null)
  useLayoutEffect(() => {
    const added = marked === null ? 0 : tail.indexOf(top.current)
    if (added > 0) scroller.current?.scrollBy({ top: added * rowPx })
    top.current = rows[0]?.id ?? null
  })

  const today = toLocalDay(new Date().toISOString())
  const hits = useMemo(() => createHitSplitter(q), [q])
  const isDated = rows.slice(firstRow, endRow).some(({ timestamp }) => toLocalDay(timestamp) !== today)
  const selectedIndex = selected === null ? -1 : tail.indexOf(selected)
  const isSelectedDrawn = selectedIndex >= firstRow && selectedIndex < endRow
  return (
    <div
      class={`list${isDated ? ' dated' : ''}${columns.length > 0 && !isNarrow ? ' with-columns' : ''}`}
      style={{ '--columns': columns.length }}
      {...over}
    >
      <div
        class="list-scroll"
        ref={scroller}
        role="grid"
        aria-label="Entries, newest first"
        aria-busy={!feed.isLoaded && feed.error === undefined}
        aria-rowcount={tail.hasOlder ? -1 : rows.length + 1}
        aria-activedescendant={isSelectedDrawn ? `row-${rows[selectedIndex]?.seq}` : undefined}
        tabIndex={0}
        data-keys="page"
        onScroll={() => setTop(Math.max(0, scroller.current?.scrollTop ?? 0))}
        {...press}
      >
        <ListHead columns={columns} />
        <div role="rowgroup" style={{ height: `${lines * rowPx}px` }}>
          <div role="presentation" style={{ transform: `translateY(${firstLine * rowPx}px)` }}>
            {drawn.map((line) => {
              // Hidden from screen readers, because each row's name has its date.
              if ('divider' in line)
                return (
                  <div key={`${line.divider.row} ${line.divider.text}`} class="row divider" aria-hidden="true">
                    <span>{line.divider.text}</span>
                  </div>
                )
              const entry = rows[line.row] as EntrySummary
              return (
                <Row
                  key={entry.seq}
                  entry={entry}
                  index={line.row}
                  isSelected={line.row === selectedIndex}
                  isMarked={entry.id === marked}
                  columns={columns}
                  isNarrow={isNarrow}
                  hits={hits}
                  today={today}
                />
              )
            })}
          </div>
        </div>
      </div>
      <div class="list-strip">
        {isFrozen && marked === null && tail.waiting > 0 && !isPressed && (
          <button type="button" onClick={onNewest}>
            <Icon name="up" />
            {isReading && !isPaused ? 'Holding, ' : ''}
            {formatPlural(tail.waiting, 'new', 'new')}
          </button>
        )}
        {feed.newer !== null && (
          <button type="button" onClick={() => feed.needNewer()}>
            <Icon name="up" />
            Newer entries
          </button>
        )}
      </div>
      <Announcer feed={feed} />
    </div>
  )
}

/** Announces the number of new entries to screen readers, instead of each entry. */
function Announcer({ feed }: { feed: EntryFeed }) {
  const [text, setText] = useState('')
  useEffect(() => {
    let announced = feed.tail.arrived
    const timer = setInterval(() => {
      const fresh = feed.tail.arrived - announced
      announced += fresh
      setText(fresh === 0 ? '' : formatPlural(fresh, 'new entry', 'new entries'))
    }, ANNOUNCE_MS)
    return () => clearInterval(timer)
  }, [feed])
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  )
}

const narrow = matchMedia('(max-width: 640px)')

/** Whether the window is narrow, by the same limit as the style sheet. Rows then have two lines. */
function useNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(narrow.matches)
  useEffect(() => {
    const listener = (): void => setNarrow(narrow.matches)
    narrow.addEventListener('change', listener)
    return () => narrow.removeEventListener('change', listener)
  }, [])
  return isNarrow
}
