/** Entries of the same trace or request, sorted by time, as bars on one scale. */
import { useMemo, useState } from 'preact/hooks'
import type { EntrySummary } from '../../query/api-types.js'
import type { Page, StoredEntry } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { formatCount, formatDuration } from '../view-format.js'
import { Problem } from '../components.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { addTerm } from '../../query/language/index.js'
import { createHref } from '../view.js'
import { serviceStyle } from '../service-color.js'
import { isFilterable } from './fact.js'
import { selectAround, createTimeline } from './timeline.js'
import type { TimelineItem } from './timeline.js'
import { truncate } from './tree.js'

/** Maximum number of entries to load; the list shows the others. */
const MAX_ENTRIES = 500
const SHOWN = 30
/** Time after receipt in which the rest of a trace arrives; then the panel stops reloading, to limit the load on a busy service. */
const FRESH_MS = 60_000

export type Relation = 'trace_id' | 'request_id'

interface RelatedProps {
  readonly entry: StoredEntry
  readonly by: Relation
  readonly value: string
}

export function Related(props: RelatedProps) {
  return isFilterable(props.value) ? (
    <Found {...props} />
  ) : (
    <p class="hint">The id is empty, or too long to search for.</p>
  )
}

function Found({ entry, by, value }: RelatedProps) {
  const changes = useChanges('entry')
  const isFresh = Date.now() - Date.parse(entry.received_at) < FRESH_MS
  const { data, error } = useQuery<Page<EntrySummary>>(
    'entries',
    { view: 'summary', [by]: value, limit: MAX_ENTRIES },
    isFresh ? changes : 0,
  )
  if (error !== undefined) return <Problem error={error} />
  if (data === undefined) return <p class="hint">Loading …</p>
  return <Timeline entry={entry} by={by} value={value} others={data.items} hasMore={data.next !== null} />
}

interface TimelineProps {
  readonly entry: StoredEntry
  readonly by: Relation
  readonly value: string
  /** Newest first. */
  readonly others: readonly EntrySummary[]
  readonly hasMore: boolean
}

function Timeline({ entry, by, value, others, hasMore }: TimelineProps) {
  const [isWhole, setWhole] = useState(false)
  const { items, totalMs } = useMemo(() => createTimeline(others.toReversed()), [others])
  const current = items.findIndex(({ item }) => item.id === entry.id)
  const shown = isWhole ? { from: 0, items } : selectAround(items, current, SHOWN)
  const noun = by === 'trace_id' ? 'trace' : 'request'
  const href = createHref({ name: 'entries', q: addTerm('', by, value), entry: entry.id })
  if (items.length <= 1 && !hasMore) return <p class="hint">No other entry of this {noun} is stored.</p>
  return (
    <>
      <p class="hint">
        {formatCount(items.length)} entries in {formatDuration(totalMs)}
        {hasMore && `, only the newest`}.{' '}
        <a href={href} data-filter="replaced" title="Replaces the filter">
          Show them in the list
        </a>
      </p>
      <ol class="timeline">
        {shown.items.map((placed) => (
          <Row key={placed.item.id} placed={placed} isCurrent={placed.item.id === entry.id} />
        ))}
      </ol>
      {shown.items.length < items.length && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all {formatCount(items.length)}
        </button>
      )}
    </>
  )
}

function Row({
  placed: { item, offsetMs, start, width },
  isCurrent,
}: {
  readonly placed: TimelineItem<EntrySummary>
  readonly isCurrent: boolean
}) {
  const view = useView()
  return (
    <li class={isCurrent ? 'current' : undefined} data-level={item.level}>
      <a href={createHref({ ...view, entry: item.id })} aria-current={isCurrent ? 'true' : undefined}>
        <span class="offset">{offsetMs === 0 ? '0 ms' : `+${formatDuration(offsetMs)}`}</span>
        <span class="what">
          <span class="visually-hidden">{item.level} </span>
          {item.service !== undefined && (
            <span class="kind service" style={serviceStyle(item.service)}>
              {truncate(item.service, 30)}
            </span>
          )}{' '}
          {truncate(item.message, 160)}
        </span>
        <svg class="span" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect class="rail" x={0} y={2.5} width={100} height={1} />
          <rect x={Math.min(start * 100, 98)} y={0} width={Math.max(width * 100, 2)} height={6} />
        </svg>
      </a>
    </li>
  )
}
