/** The view "traces": traces of all services, and one trace as a waterfall. */
import type { TraceSummary } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { Empty, Time } from '../components.js'
import { truncate } from '../detail/tree.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useView } from '../use-view.js'
import { formatCount, formatDuration, formatPlural } from '../view-format.js'
import { createHref, isFiltered } from '../view.js'
import { FeedbackMark } from './feedback-mark.js'
import { ListPage } from './list-page.js'
import { OrderChoice } from './order-choice.js'
import { followRow } from './row-click.js'
import { Services } from './services.js'
import { StartHint } from './snippet.js'
import { TracePage } from './trace-page.js'
import { useList } from './use-list.js'
import { LINE } from './use-list-keys.js'
import { ViewFilter } from './view-filter.js'

const ORDERS = [
  [null, 'Latest'],
  ['duration', 'Longest'],
  ['errors', 'Most errors'],
] as const

export function TracesView() {
  const { trace } = useView()
  return trace === null ? <TraceList /> : <TracePage key={trace} id={trace} />
}

function TraceList() {
  const view = useView()
  const sort = ORDERS.find(([value]) => value === view.sort)?.[0] ?? undefined
  const list = useList<TraceSummary>('traces', { ...useFilterParameters(view), sort }, useChanges('entry', 'feedback'))
  return (
    <ListPage
      title="Traces"
      about={`${formatPlural(list.items?.length ?? 0, 'trace')}${list.more === null ? '' : ' and more'}`}
      filter={<ViewFilter kind="entries" error={list.error} />}
      tools={<OrderChoice choices={ORDERS} />}
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
      {(traces) => <Traces traces={traces} />}
    </ListPage>
  )
}

function Traces({ traces }: { readonly traces: readonly TraceSummary[] }) {
  const longestMs = Math.max(...traces.map((trace) => trace.duration_ms))
  return (
    <div class="card table-scroll">
      <table class="table groups traces">
        <thead>
          <tr>
            <th scope="col">Trace</th>
            <th scope="col">Service</th>
            <th scope="col">Start</th>
            <th scope="col">Duration</th>
            <th scope="col" class="number">
              Entries
            </th>
            <th scope="col" class="number">
              Errors
            </th>
          </tr>
        </thead>
        <tbody class="choosable" onClick={followRow}>
          {traces.map((trace) => (
            <Row key={trace.trace_id} trace={trace} longestMs={longestMs} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ trace, longestMs }: { readonly trace: TraceSummary; readonly longestMs: number }) {
  const view = useView()
  const { trace_id: id, name, services, duration_ms: ms, entries, errors, started_at: at } = trace
  return (
    <tr>
      <td class="group-what">
        <a class="group-link" href={createHref({ ...view, trace: id })} title={truncate(id, 200)} {...LINE}>
          {truncate(name, 160)}
        </a>{' '}
        <FeedbackMark count={trace.feedback} />
      </td>
      <Services services={services} />
      <td data-name="Start">
        <Time at={at} />
      </td>
      <td class="trace-duration" data-name="Duration">
        {formatDuration(ms)}
        <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
          <rect x={0} y={0} width={longestMs === 0 ? 0 : Math.max(1, (ms / longestMs) * 100)} height={4} />
        </svg>
      </td>
      <td class="number" data-name="Entries">
        {formatCount(entries)}
      </td>
      <td class={errors > 0 ? 'number bad' : 'number faint'} data-name="Errors">
        {formatCount(errors)}
      </td>
    </tr>
  )
}
