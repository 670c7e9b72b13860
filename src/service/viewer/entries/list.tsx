/** The virtual list of entries: only visible rows are in the document; all have the same height. */
import type { RefObject } from 'preact'
import { useEffect, useImperativeHandle, useLayoutEffect, useMemo, useState } from 'preact/hooks'
import { formatPlural } from '../view-format.js'
import { Icon } from '../icons.js'
import { useSize } from '../use-size.js'
import type { EntryFeed } from '../live/entry-feed.js'
import { Announcer } from './announcer.js'
import { findDayStarts, findDrawn, findLine, findRowAt } from './lines.js'
import type { Viewport } from './lines.js'
import { ListHead } from './list-head.js'
import { Row } from './row.js'
import { toLocalDay, findConstantDetails } from './row-text.js'
import { usePointerOver } from './use-pointer-over.js'
import { useNarrow } from './use-narrow.js'
import { usePress } from './use-press.js'

const ROW_PX = 28
const NARROW_ROW_PX = 50
/** Height of the column headers; narrow windows have none. */
const HEAD_PX = 26

export interface ListHandle {
  toTop(): void
  /** Scrolls to make the row visible. */
  reveal(index: number, place?: 'nearest' | 'middle'): void
  firstVisible(): number
  focus(): void
}

interface ListProps {
  readonly handle: RefObject<ListHandle | null>
  readonly feed: EntryFeed
  readonly columns: readonly string[]
  readonly selected: string | null
  /** The entry around which the list is shown. */
  readonly marked: string | null
  readonly isOpen: boolean
  readonly isPaused: boolean
  readonly onOpen: (id: string, isNewTab?: boolean) => void
  readonly onNewest: () => void
}

export function List({ handle, feed, columns, selected, marked, isOpen, isPaused, onOpen, onNewest }: ListProps) {
  const { tail } = feed
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
  useLayoutEffect(() => {
    if (isFrozen) feed.freeze()
    else feed.release()
  }, [feed, isFrozen])

  const dayOf = (at: number): string => toLocalDay(tail.at(at)?.entry.timestamp ?? '')
  const starts = findDayStarts(tail.firstLoaded, tail.length, dayOf)
  const viewport = { topPx, heightPx, headPx, rowPx }
  const { lines, drawn, firstLine, firstRow, endRow, visibleEndRow } = findDrawn(starts, tail.length, viewport)
  const toTop = (): void => {
    scroller.current?.scrollTo({ top: 0 })
    setTop(0)
    release()
  }
  useImperativeHandle(handle, () => ({ toTop, ...createHandle(scroller, starts, viewport) }), [rowPx, starts.join()])
  useEffect(() => {
    feed.need(firstRow, endRow)
    tail.see(firstRow, visibleEndRow)
  })
  // Keeps visible rows in place when newer rows are added on top.
  useLayoutEffect(() => {
    const added = feed.takeAddedOnTop()
    if (added > 0) scroller.current?.scrollBy({ top: added * rowPx })
  })

  const today = toLocalDay(new Date().toISOString())
  const entries = drawn.flatMap((line) => ('row' in line ? (tail.at(line.row)?.entry ?? []) : []))
  const constantKey = JSON.stringify(findConstantDetails(entries))
  const constant = useMemo(() => new Set<string>(JSON.parse(constantKey) as string[]), [constantKey])
  const isDated = entries.some(({ timestamp }) => toLocalDay(timestamp) !== today)
  const selectedIndex = selected === null ? -1 : tail.indexOf(selected)
  const late = tail.lateBelow(visibleEndRow)
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
        aria-rowcount={tail.hasOlder ? -1 : tail.length + 1}
        aria-activedescendant={
          selectedIndex >= firstRow && selectedIndex < endRow ? `row-${tail.at(selectedIndex)?.entry.seq}` : undefined
        }
        tabIndex={0}
        data-keys="page"
        onScroll={() => setTop(Math.max(0, scroller.current?.scrollTop ?? 0))}
        {...press}
      >
        <ListHead columns={columns} />
        <div role="rowgroup" style={{ height: `${lines * rowPx}px` }}>
          <div role="presentation" style={{ transform: `translateY(${firstLine * rowPx}px)` }}>
            {drawn.map((line) => {
              if ('divider' in line) return <DayLine key={`day-${dayOf(line.divider)}`} day={dayOf(line.divider)} />
              const row = tail.at(line.row)
              return row === undefined ? (
                <MissingRow key={`above-${line.row}`} index={line.row} />
              ) : (
                <Row
                  key={row.entry.seq}
                  row={row}
                  index={line.row}
                  isSelected={line.row === selectedIndex}
                  isMarked={row.entry.id === marked}
                  columns={columns}
                  isNarrow={isNarrow}
                  constant={constant}
                  today={today}
                  onOpen={onOpen}
                />
              )
            })}
          </div>
        </div>
      </div>
      <div class="list-strip">
        {isFrozen && marked === null && tail.waiting > 0 && !isPressed && (
          <button type="button" class="new-rows" onClick={onNewest}>
            <Icon name="up" />
            {isReading && !isPaused ? 'Holding, ' : ''}
            {formatPlural(tail.waiting, 'new', 'new')}
          </button>
        )}
        {feed.hasNewer && (
          <button type="button" class="new-rows" onClick={() => feed.needNewer()}>
            <Icon name="up" />
            Newer entries
          </button>
        )}
        {late.count > 0 && (
          <button
            type="button"
            class="late-rows"
            title="They arrived after newer entries"
            onClick={() => scroller.current?.scrollTo({ top: findLine(starts, late.first) * rowPx })}
          >
            <Icon name="down" />
            {late.count} late below
          </button>
        )}
      </div>
      <Announcer feed={feed} />
    </div>
  )
}

/** Hidden from screen readers, because each row's name has its date. */
function DayLine({ day }: { day: string }) {
  return (
    <div class="row day" aria-hidden="true">
      <span>{day}</span>
    </div>
  )
}

/** A row that is not loaded yet. */
function MissingRow({ index }: { index: number }) {
  return (
    <div role="row" aria-rowindex={index + 2} class="row missing">
      <span role="gridcell">…</span>
    </div>
  )
}

function createHandle(scroller: RefObject<HTMLElement | null>, starts: readonly number[], { rowPx, headPx }: Viewport) {
  return {
    reveal: (index: number, place: 'nearest' | 'middle' = 'nearest') => {
      const element = scroller.current
      if (element === null) return
      const at = findLine(starts, index) * rowPx
      const roomPx = element.clientHeight - headPx
      if (place === 'middle') element.scrollTo({ top: at - roomPx / 2 })
      else if (at < element.scrollTop) element.scrollTo({ top: at })
      else if (at + rowPx > element.scrollTop + roomPx) element.scrollTo({ top: at + rowPx - roomPx })
    },
    firstVisible: () => findRowAt(starts, Math.ceil((scroller.current?.scrollTop ?? 0) / rowPx)),
    focus: () => scroller.current?.focus({ preventScroll: true }),
  }
}
