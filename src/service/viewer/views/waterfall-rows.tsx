/** Rows of a waterfall: a span with its entries, or an entry without a span. */
import { useId, useState } from 'preact/hooks'
import type { Level } from '../../../protocol/log-entry.js'
import type { EntrySummary, TraceSpan } from '../../query/api-types.js'
import { serviceStyle } from '../service-color.js'
import { LevelBadge, Time } from '../components.js'
import { truncate } from '../detail/tree.js'
import { useView } from '../use-view.js'
import { formatDuration, formatPlural } from '../view-format.js'
import { createHref } from '../view.js'
import { FeedbackMark } from './feedback-mark.js'
import { LINE } from './use-list-keys.js'
import type { EntryRow, SpanRow } from './waterfall.js'

/** Deeper rows are not indented further. */
const MAX_INDENTED_DEPTH = 12
/** Minimum width in percent, to keep every bar visible. */
const MIN_WIDTH = 0.5

const SERIOUS: readonly Level[] = ['warn', 'error', 'fatal']

export function SpanRowView({ row }: { readonly row: SpanRow<TraceSpan> }) {
  const { span, offsetMs, root, depth } = row
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  return (
    <li data-level={span.level}>
      <button
        type="button"
        class="waterfall-row fold"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
        {...LINE}
      >
        <span class="waterfall-name" style={{ '--depth': Math.min(depth, MAX_INDENTED_DEPTH) }}>
          {SERIOUS.includes(span.level) && <LevelBadge level={span.level} />}
          {span.service !== null && (
            <span class="kind service" style={serviceStyle(span.service)}>
              {truncate(span.service, 30)}
            </span>
          )}{' '}
          <span class="cut">{truncate(span.name, 120)}</span>
          <FeedbackMark isShort count={span.entries.filter((entry) => entry.has_feedback).length} />
          {root === 'missing' && (
            <span class="hint" title={`Parent span ${truncate(span.parent_span_id ?? '', 100)}`}>
              parent not logged
            </span>
          )}
          {root === 'cycle' && <span class="hint">its own ancestor</span>}
          <span class="visually-hidden">
            , depth {depth + 1}, starts at +{formatDuration(offsetMs)},{' '}
            {formatPlural(span.entries.length, 'entry', 'entries')}, takes{' '}
          </span>
        </span>
        <Bar start={row.start} width={row.width} />
        <span class="waterfall-time">{span.duration_ms === null ? 'unknown' : formatDuration(span.duration_ms)}</span>
      </button>
      <ul id={id} class="waterfall-entries" hidden={!isOpen}>
        {isOpen && span.entries.map((entry) => <SpanEntry key={entry.id} entry={entry} />)}
      </ul>
    </li>
  )
}

function SpanEntry({ entry }: { readonly entry: EntrySummary }) {
  const view = useView()
  return (
    <li>
      <a
        href={createHref({ ...view, entry: entry.id })}
        aria-current={view.entry === entry.id ? 'true' : undefined}
        {...LINE}
      >
        <Time at={entry.timestamp} /> <LevelBadge level={entry.level} /> <span>{truncate(entry.message, 200)}</span>{' '}
        <FeedbackMark isShort count={entry.has_feedback ? 1 : 0} />
      </a>
    </li>
  )
}

export function EntryRowView({ row: { entry, offsetMs, start } }: { readonly row: EntryRow<EntrySummary> }) {
  const view = useView()
  return (
    <li data-level={entry.level}>
      <a
        class="waterfall-row"
        href={createHref({ ...view, entry: entry.id })}
        aria-current={view.entry === entry.id ? 'true' : undefined}
        {...LINE}
      >
        <span class="waterfall-name">
          <LevelBadge level={entry.level} />
          {entry.service !== undefined && (
            <span class="kind service" style={serviceStyle(entry.service)}>
              {truncate(entry.service, 30)}
            </span>
          )}{' '}
          <span class="cut">{truncate(entry.message, 120)}</span>
          <FeedbackMark isShort count={entry.has_feedback ? 1 : 0} />
          <span class="visually-hidden">, entry without a span at </span>
        </span>
        <Bar start={start} width={0} />
        <span class="waterfall-time">+{formatDuration(offsetMs)}</span>
      </a>
    </li>
  )
}

function Bar({ start, width }: { readonly start: number; readonly width: number }) {
  const wide = Math.max(MIN_WIDTH, width * 100)
  return (
    <svg class="waterfall-bar" aria-hidden="true">
      <rect class="rail" x="0" y="50%" width="100%" height="1" />
      <rect x={`${Math.min(start * 100, 100 - wide)}%`} y="3" width={`${wide}%`} height="10" rx="2" />
    </svg>
  )
}
