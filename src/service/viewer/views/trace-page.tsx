/** One trace: its spans and entries as a waterfall. */
import { useMemo } from 'preact/hooks'
import type { EntrySummary, Trace, TraceSpan } from '../../query/api-types.js'
import { ApiError } from '../api.js'
import { useChanges } from '../changes.js'
import { Empty, Problem, Time } from '../components.js'
import { Many } from '../detail/show-more.js'
import { truncate } from '../detail/tree.js'
import { addTerm } from '../../query/language/index.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { formatDuration, formatPlural } from '../view-format.js'
import { createHref } from '../view.js'
import { ViewPage } from './list-page.js'
import { createLinearTicks } from '../plot-scale.js'
import { EntryRowView, SpanRowView } from './waterfall-rows.js'
import { createWaterfall } from './waterfall.js'

const STEP = 300

export function TracePage({ id }: { readonly id: string }) {
  const view = useView()
  const { data, error } = useQuery<Trace>(`traces/${encodeURIComponent(id)}`, {}, useChanges('entry', 'feedback'))
  const isGone = error instanceof ApiError && error.status === 404
  return (
    <ViewPage
      title={data === undefined ? 'Trace' : truncate(data.name, 160)}
      about={<code>{truncate(id, 100)}</code>}
      tools={
        <span class="page-buttons">
          <a class="button small" href={createHref({ ...view, trace: null, entry: null })}>
            All traces
          </a>
          <a class="button small" href={createHref({ q: addTerm('', 'trace_id', id), entry: view.entry })}>
            Show in the list
          </a>
        </span>
      }
    >
      {isGone && (
        <Empty title="This trace is not stored">
          <p>Its entries were deleted by a limit or a reset of the service.</p>
        </Empty>
      )}
      {error !== undefined && !isGone && <Problem error={error} />}
      {error === undefined && data === undefined && <p class="muted">Loading …</p>}
      {data !== undefined && <Waterfall trace={data} />}
    </ViewPage>
  )
}

function Waterfall({ trace }: { readonly trace: Trace }) {
  const { spans, entries, omitted } = trace
  const { rows, totalMs } = useMemo(() => createWaterfall<TraceSpan, EntrySummary>(spans, entries), [trace])
  const all = entries.length + spans.reduce((sum, span) => sum + span.entries.length, 0)
  const services = new Set([...spans.map(({ service }) => service), ...entries.map(({ service }) => service ?? null)])
  services.delete(null)
  return (
    <section class="card waterfall-card" aria-label="Waterfall">
      <p class="muted">
        <Time at={trace.started_at} />, {formatDuration(totalMs)}, {formatPlural(spans.length, 'span')},{' '}
        {formatPlural(all, 'entry', 'entries')}, {formatPlural(services.size, 'service')}
        {omitted > 0 && `. ${formatPlural(omitted, 'later entry is', 'later entries are')} not shown.`}
      </p>
      <div class="waterfall-scale" aria-hidden="true">
        {createLinearTicks(totalMs).map((ms) => (
          <span key={ms} style={{ left: `${totalMs === 0 ? 0 : (ms / totalMs) * 100}%` }}>
            {formatDuration(ms)}
          </span>
        ))}
      </div>
      <Many items={rows} step={STEP} noun="rows">
        {(shown) => (
          <ol class="waterfall" data-keys="page">
            {shown.map((row) =>
              row.kind === 'span' ? (
                <SpanRowView key={`s${row.span.span_id}`} row={row} />
              ) : (
                <EntryRowView key={row.entry.id} row={row} />
              ),
            )}
          </ol>
        )}
      </Many>
    </section>
  )
}
