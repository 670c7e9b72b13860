/** The spans and entries of one trace or one request, as bars on one scale. */
import type { ComponentChildren } from 'preact'
import { useId, useMemo, useState } from 'preact/hooks'
import type { EntrySummary, Timeline } from '../../query/api-types.js'
import { createRequestQuery } from '../../query/language/index.js'
import { findRunId } from '../../store/runs.js'
import type { StoredEntry } from '../../store/stored-record.js'
import { ApiError } from '../api.js'
import { useChanges } from '../changes.js'
import { LevelBadge, Problem, Time } from '../components.js'
import { formatRowText } from '../row-text.js'
import { Icon } from '../icons.js'
import { createLinearTicks } from '../plot-scale.js'
import { serviceStyle } from '../service-color.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { formatCount, formatDuration, formatPlural } from '../view-format.js'
import { createHref } from '../view.js'
import { isFilterable } from './fact.js'
import { createTimeline } from './timeline.js'
import type { TimelineRow } from './timeline.js'
import { truncate } from './tree.js'

const SHOWN = 30
/** Time after receipt in which the rest of a trace arrives; then the panel stops reloading, to limit the load on a busy service. */
const FRESH_MS = 60_000

interface RelatedProps {
  readonly entry: StoredEntry
  readonly by: 'trace_id' | 'request_id'
  readonly value: string
}

export function Related({ entry: stored, by, value }: RelatedProps) {
  const { entry, id, received_at: receivedAt } = stored
  const changes = useChanges('entry')
  const { service, request_id } = entry
  const ids = by === 'trace_id' ? { trace_id: value } : { run: findRunId(entry), service, request_id }
  const q = isFilterable(value) ? createRequestQuery(ids) : null
  const isFresh = Date.now() - Date.parse(receivedAt) < FRESH_MS
  const { data, error } = useQuery<Timeline>(q === null ? null : 'timeline', { q: q ?? '' }, isFresh ? changes : 0)
  if (q === null) return <p class="hint">The id is empty, or too long to search for.</p>
  if (error instanceof ApiError && error.status === 404) return <p class="hint">The entry was deleted.</p>
  if (error !== undefined) return <Problem error={error} />
  if (data === undefined) return <p class="hint">Loading …</p>
  return (
    <TimelineChart timeline={data} current={id} shown={SHOWN}>
      {'. '}
      <a href={createHref({ name: 'entries', q, entry: id })} data-filter="replaced" title="Replaces the filter">
        Show them in the list
      </a>
    </TimelineChart>
  )
}

interface TimelineChartProps {
  readonly timeline: Timeline
  /** Id of the entry to mark; its row is among the first that are shown. */
  readonly current: string | null
  /** Maximum number of rows to show at first. */
  readonly shown: number
  readonly children?: ComponentChildren
}

export function TimelineChart({ timeline, current, shown, children }: TimelineChartProps) {
  const { spans, entries, omitted, started_at: startedAt } = timeline
  const [isWhole, setWhole] = useState(false)
  const { rows, totalMs } = useMemo(() => createTimeline(timeline), [timeline])
  const all = rows.flatMap((row) => row.entries)
  const services = new Set(rows.flatMap(({ service }) => service ?? []))
  const at = rows.findIndex((row) => row.entries.some(({ id }) => id === current))
  const from = isWhole ? 0 : Math.max(0, Math.min(rows.length - shown, at - shown / 2))
  return (
    <div class="spans">
      <p class="muted">
        <Time at={startedAt} />, {formatDuration(totalMs)}, {formatPlural(spans.length, 'span')},{' '}
        {formatPlural(all.length, 'entry', 'entries')}, {formatPlural(services.size, 'service')}
        {omitted > 0 && `. ${formatPlural(omitted, 'later entry is', 'later entries are')} not shown`}
        {children}
      </p>
      <div class="span-scale" aria-hidden="true">
        {(entries.length + spans.length > 1 ? createLinearTicks(totalMs) : []).map((ms) => (
          <span key={ms} style={{ left: `${totalMs === 0 ? 0 : (ms / totalMs) * 100}%` }}>
            {formatDuration(ms)}
          </span>
        ))}
      </div>
      <ol data-keys="page">
        {rows.slice(from, isWhole ? rows.length : from + shown).map((row) => (
          <Row key={row.id} row={row} current={current} />
        ))}
      </ol>
      {!isWhole && rows.length > shown && (
        <button type="button" class="button small more" onClick={() => setWhole(true)}>
          Show all {formatCount(rows.length)}
        </button>
      )}
    </div>
  )
}

/** Deeper rows are not indented further. */
const MAX_INDENTED_DEPTH = 12
/** Minimum width in percent, to keep every bar visible. */
const MIN_WIDTH = 1

/** A span of several entries, which unfold, or a single entry. */
function Row({ row, current }: { readonly row: TimelineRow; readonly current: string | null }) {
  const { entries, level, start } = row
  const id = useId()
  const isCurrent = entries.some((entry) => entry.id === current)
  const [isOpen, setOpen] = useState(isCurrent || level === 'error' || level === 'fatal')
  const width = Math.max(MIN_WIDTH, row.width * 100)
  const content = (
    <>
      <RowName row={row} />
      <svg aria-hidden="true">
        <rect class="rail" x="0" y="50%" width="100%" height="1" />
        <rect x={`${Math.min(start * 100, 100 - width)}%`} y="3" width={`${width}%`} height="10" rx="2" />
      </svg>
      <RowTime row={row} />
    </>
  )
  const [only, ...others] = entries
  if (only !== undefined && others.length === 0)
    return (
      <li data-level={level}>
        <EntryLink class="span-row" entry={only} isCurrent={isCurrent}>
          {content}
        </EntryLink>
      </li>
    )
  return (
    <li data-level={level}>
      <button
        type="button"
        class="span-row fold"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        data-line
      >
        {content}
      </button>
      <ul id={id} class="span-entries" hidden={!isOpen}>
        {isOpen &&
          entries.map((entry) => (
            <li key={entry.id}>
              <EntryLink entry={entry} isCurrent={entry.id === current}>
                <Time at={entry.timestamp} /> <LevelBadge level={entry.level} />{' '}
                <span>{truncate(formatRowText(entry), 200)}</span>{' '}
                <FeedbackMark isShort count={entry.has_feedback ? 1 : 0} />
              </EntryLink>
            </li>
          ))}
      </ul>
    </li>
  )
}

interface EntryLinkProps {
  readonly entry: EntrySummary
  readonly isCurrent: boolean
  readonly class?: string
  readonly children: ComponentChildren
}

function EntryLink({ entry: { id }, isCurrent, class: className, children }: EntryLinkProps) {
  const view = useView()
  return (
    <a
      class={className}
      href={createHref({ ...view, entry: id })}
      aria-current={isCurrent ? 'true' : undefined}
      data-line
    >
      {children}
    </a>
  )
}

function RowName({ row: { name, service, level, depth, entries, missingParent } }: { readonly row: TimelineRow }) {
  return (
    <span class="span-name" style={{ '--depth': Math.min(depth, MAX_INDENTED_DEPTH) }}>
      {level !== 'debug' && level !== 'info' && <LevelBadge level={level} />}
      {service !== null && (
        <span class="kind service" style={serviceStyle(service)}>
          {truncate(service, 30)}
        </span>
      )}{' '}
      <span class="cut">{truncate(name, 120)}</span>
      <FeedbackMark isShort count={entries.filter((entry) => entry.has_feedback).length} />
      {missingParent !== null && (
        <span class="hint" title={`Parent span ${truncate(missingParent, 100)}`}>
          parent not logged
        </span>
      )}
    </span>
  )
}

function RowTime({ row: { depth, durationMs, offsetMs, entries } }: { readonly row: TimelineRow }) {
  return (
    <span class="span-time">
      <span class="visually-hidden">
        , depth {depth + 1}, {formatPlural(entries.length, 'entry', 'entries')}, starts at{' '}
      </span>
      {durationMs === 0 ? (
        `+${formatDuration(offsetMs)}`
      ) : (
        <>
          <span class="visually-hidden">+{formatDuration(offsetMs)}, takes </span>
          {durationMs === null ? '–' : formatDuration(durationMs)}
        </>
      )}
    </span>
  )
}

interface FeedbackMarkProps {
  readonly count?: number | undefined
  /** Shows the number only, where there is little space. */
  readonly isShort?: boolean
}

/** Marks an error, a trace, a span or an entry on which users commented. */
export function FeedbackMark({ count = 0, isShort = false }: FeedbackMarkProps) {
  if (count === 0) return null
  const text = formatPlural(count, 'entry with a comment', 'entries with comments')
  return (
    <span class="mark-feedback" title={text}>
      <Icon name="feedback" /> <span class={isShort ? 'visually-hidden' : ''}>{text}</span>
    </span>
  )
}
