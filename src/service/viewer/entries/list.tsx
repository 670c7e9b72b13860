/** The list. Only visible rows are in the document; all have the same height. */
import type { RefObject } from 'preact'
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { localAheadOfUtc, plural, zoneName } from '../view-format.js'
import { Icon } from '../icons.js'
import type { EntryFeed } from '../live/entry-feed.js'
import { Row } from './row.js'
import { useNarrow } from './use-narrow.js'

const ROW_PX = 28
const NARROW_ROW_PX = 50
/** The column heads above the rows; narrow windows have none. */
const HEAD_PX = 26
/** Rows rendered beyond the visible ones, so that scrolling shows no gap. */
const OVERSCAN_ROWS = 8
const TELL_INTERVAL_MS = 5000
/** A pointer that moves further than this selects text. */
const CLICK_PX = 6

/** Where the pointer went down. If rows are rendered again under it, the browser emits no click. */
interface Pressed {
  readonly id: string | undefined
  readonly x: number
  readonly y: number
}

function rowId({ target }: Event): string | undefined {
  return target instanceof Element ? target.closest<HTMLElement>('[data-entry]')?.dataset['entry'] : undefined
}

export interface ListHandle {
  toTop(): void
  reveal(index: number): void
  firstVisible(): number
}

interface ListProps {
  readonly handle: RefObject<ListHandle | null>
  readonly feed: EntryFeed
  /** Increases when the feed must be rendered. */
  readonly version: number
  readonly selected: string | null
  readonly isOpen: boolean
  readonly isPaused: boolean
  readonly onOpen: (id: string) => void
  readonly onNewest: () => void
}

export function List({ handle, feed, selected, isOpen, isPaused, onOpen, onNewest }: ListProps) {
  const { tail } = feed
  const isNarrow = useNarrow()
  const rowPx = isNarrow ? NARROW_ROW_PX : ROW_PX
  const headPx = isNarrow ? 0 : HEAD_PX
  const scroller = useRef<HTMLDivElement>(null)
  const [top, setTop] = useState(0)
  const [height, setHeight] = useState(600)
  // Rows do not move while an entry is open or the pointer is down.
  const [isReading, setReading] = useState(isOpen)
  const [isPressed, setPressed] = useState(false)
  const pressed = useRef<Pressed | null>(null)
  useEffect(() => setReading(isOpen), [isOpen])

  const isHeld = isPaused || isReading || isPressed || top > 0
  useLayoutEffect(() => {
    if (isHeld) feed.hold()
    else feed.release()
  }, [feed, isHeld])

  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => setHeight(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const scrollTo = (px: number): void => scroller.current?.scrollTo({ top: px })
  useImperativeHandle(
    handle,
    () => ({
      toTop: () => {
        scrollTo(0)
        setTop(0)
        setReading(false)
      },
      reveal: (index) => {
        const element = scroller.current
        if (element === null) return
        const at = index * rowPx
        const roomPx = element.clientHeight - headPx
        if (at < element.scrollTop) scrollTo(at)
        else if (at + rowPx > element.scrollTop + roomPx) scrollTo(at + rowPx - roomPx)
      },
      firstVisible: () => Math.ceil((scroller.current?.scrollTop ?? 0) / rowPx),
    }),
    [rowPx],
  )

  const first = Math.max(0, Math.floor(top / rowPx) - OVERSCAN_ROWS)
  const last = Math.min(tail.length, Math.ceil((top + height) / rowPx) + OVERSCAN_ROWS)
  useEffect(() => feed.need(first, last))

  const onScroll = (): void => {
    const now = Math.max(0, scroller.current?.scrollTop ?? 0)
    if (now === 0 && top > 0) setReading(false)
    setTop(now)
  }
  const onPointerDown = (event: PointerEvent): void => {
    if (event.button !== 0) return
    pressed.current = { id: rowId(event), x: event.clientX, y: event.clientY }
    setPressed(true)
  }
  const endPress = (): void => {
    pressed.current = null
    setPressed(false)
  }
  const onPointerUp = ({ clientX, clientY }: PointerEvent): void => {
    const { id, x, y } = pressed.current ?? {}
    endPress()
    if (id !== undefined && x !== undefined && y !== undefined && Math.hypot(clientX - x, clientY - y) < CLICK_PX)
      onOpen(id)
  }
  const selectedIndex = selected === null ? -1 : tail.indexOf(selected)
  const isActiveDrawn = selectedIndex >= first && selectedIndex < last
  const indices = Array.from({ length: Math.max(0, last - first) }, (_, place) => first + place)
  return (
    <div class="list">
      {tail.waiting > 0 && !isPressed && (
        <button type="button" class="new-rows" onClick={onNewest}>
          <Icon name="up" />
          {plural(tail.waiting, 'new', 'new')}
        </button>
      )}
      <div
        class="list-scroll"
        ref={scroller}
        role="grid"
        aria-label="Entries, newest first"
        aria-rowcount={tail.hasOlder ? -1 : tail.length + 1}
        aria-activedescendant={isActiveDrawn ? `row-${tail.at(selectedIndex)?.seq}` : undefined}
        tabIndex={0}
        data-keys="page"
        onScroll={onScroll}
        onPointerDown={onPointerDown}
        onPointerUp={onPointerUp}
        onPointerCancel={endPress}
        onPointerLeave={endPress}
      >
        <div role="row" aria-rowindex={1} class="row list-head">
          <span role="columnheader">
            Time <span class="zone">({zoneName(localAheadOfUtc(Date.now()))})</span>
          </span>
          <span role="columnheader">Level</span>
          <span role="columnheader">Service</span>
          <span role="columnheader">Message</span>
        </div>
        <div role="rowgroup" style={{ height: `${tail.length * rowPx}px` }}>
          <div role="presentation" style={{ transform: `translateY(${first * rowPx}px)` }}>
            {indices.map((index) => {
              const entry = tail.at(index)
              return entry === undefined ? (
                <div key={`above-${index}`} role="row" aria-rowindex={index + 2} class="row missing">
                  <span role="gridcell">…</span>
                </div>
              ) : (
                <Row key={entry.seq} entry={entry} index={index} isSelected={index === selectedIndex} onOpen={onOpen} />
              )
            })}
          </div>
        </div>
      </div>
      <Teller feed={feed} />
    </div>
  )
}

/** Announces the number of new entries to screen readers from time to time, instead of each entry. */
function Teller({ feed }: { feed: EntryFeed }) {
  const [text, setText] = useState('')
  useEffect(() => {
    let announced = feed.tail.arrived
    const timer = setInterval(() => {
      const fresh = feed.tail.arrived - announced
      announced += fresh
      setText(fresh === 0 ? '' : plural(fresh, 'new entry', 'new entries'))
    }, TELL_INTERVAL_MS)
    return () => clearInterval(timer)
  }, [feed])
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  )
}
