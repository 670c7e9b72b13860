/** The view "traces": traces of all services, and one trace on a timeline. */
import type { Trace, TraceSummary } from '../../query/api-types.js'
import { addTerm } from '../../query/language/index.js'
import { ApiError } from '../api.js'
import { useChanges } from '../changes.js'
import { Empty, Time } from '../components.js'
import { FeedbackMark, TimelineChart } from '../detail/related-view.js'
import { truncate } from '../detail/tree.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { formatCount, formatDuration, formatPlural } from '../view-format.js'
import { createHref, isFiltered } from '../view.js'
import { ListPage, Loaded, StartHint, ViewPage, useList } from './list-page.js'
import { RecordTable, Services, findSort } from './record-table.js'
import type { Column } from './record-table.js'
import { ViewFilter } from './view-filter.js'

export function TracesView() {
  const { trace } = useView()
  return trace === null ? <TraceList /> : <TracePage key={trace} id={trace} />
}

function createColumns(longestMs: number): readonly Column<TraceSummary>[] {
  return [
    { name: 'Trace', cell: (trace) => <TraceLink trace={trace} /> },
    { name: 'Service', cell: ({ services }) => <Services services={services} /> },
    { name: 'Start', sort: 'start', cell: ({ started_at: at }) => <Time at={at} /> },
    {
      name: 'Duration',
      sort: 'duration',
      isNumber: true,
      cell: ({ duration_ms: ms }) => (
        <>
          {ms === 0 ? '–' : formatDuration(ms)}
          <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect x={0} y={0} width={longestMs === 0 ? 0 : Math.max(1, (ms / longestMs) * 100)} height={4} />
          </svg>
        </>
      ),
    },
    { name: 'Entries', isNumber: true, cell: ({ entries }) => formatCount(entries) },
    {
      name: 'Errors',
      sort: 'errors',
      isNumber: true,
      cell: ({ errors }) => <span class={errors > 0 ? 'bad' : 'faint'}>{formatCount(errors)}</span>,
    },
  ]
}

function TraceList() {
  const view = useView()
  const sort = findSort(createColumns(0), view.sort)
  const list = useList<TraceSummary>('traces', { ...useFilterParameters(view), sort }, useChanges('entry', 'feedback'))
  return (
    <ListPage
      about={`${formatPlural(list.data?.length ?? 0, 'trace')}${list.more === null ? '' : ' and more'}`}
      filter={<ViewFilter kind="entries" error={list.error} />}
      list={list}
      empty={
        isFiltered(view) ? (
          <Empty title="No trace matches" />
        ) : (
          <Empty title="No traces yet">
            <p>
              Entries with the same <code>trace_id</code> are one trace, over all services. <code>span_id</code> and{' '}
              <code>parent_span_id</code> nest them.
            </p>
            <StartHint />
          </Empty>
        )
      }
    >
      {(traces) => (
        <RecordTable
          label="Traces"
          items={traces}
          columns={createColumns(Math.max(...traces.map((trace) => trace.duration_ms)))}
          keyOf={(trace) => trace.trace_id}
        />
      )}
    </ListPage>
  )
}

function TraceLink({ trace: { trace_id: id, name, feedback } }: { readonly trace: TraceSummary }) {
  const view = useView()
  return (
    <>
      <a class="record-link" href={createHref({ ...view, trace: id })} title={truncate(id, 200)} data-line>
        {truncate(name, 160)}
      </a>{' '}
      <FeedbackMark count={feedback} />
    </>
  )
}

const SHOWN = 300

function TracePage({ id }: { readonly id: string }) {
  const view = useView()
  const query = useQuery<Trace>(`traces/${encodeURIComponent(id)}`, {}, useChanges('entry', 'feedback'))
  const isGone = query.error instanceof ApiError && query.error.status === 404
  return (
    <ViewPage
      title={query.data === undefined ? 'Trace' : truncate(query.data.name, 160)}
      about={<code>{truncate(id, 100)}</code>}
      tools={
        <>
          <a class="button small" href={createHref({ ...view, trace: null, entry: null })}>
            All traces
          </a>
          <a class="button small" href={createHref({ q: addTerm('', 'trace_id', id), entry: view.entry })}>
            Show in the list
          </a>
        </>
      }
    >
      {isGone ? (
        <Empty title="This trace is not stored">
          <p>Its entries were deleted by a limit or a reset of the service.</p>
        </Empty>
      ) : (
        <Loaded query={query}>
          {(trace) => (
            <section class="card" aria-label="Timeline">
              <TimelineChart timeline={trace} current={view.entry} shown={SHOWN} />
            </section>
          )}
        </Loaded>
      )}
    </ViewPage>
  )
}
