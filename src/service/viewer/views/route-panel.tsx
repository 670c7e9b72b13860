/** One route: its latency over time, and its newest requests. */
import type { RouteLatency } from '../../query/api-types.js'
import type { Page, StoredRequestLog } from '../../store/stored-record.js'
import { Fold } from '../detail/section.js'
import { truncate } from '../detail/tree.js'
import { duration } from '../view-format.js'
import { Problem, Time } from '../components.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { createHref } from '../view.js'
import type { Filters } from '../view.js'
import { LatencyPlot, LatencyTable } from './latency-plot.js'
import { entryRequestId, isOfRoute, routeText } from './route-name.js'
import type { RouteName } from './route-name.js'
import { StatusCode } from './status-code.js'

export function RoutePanel({
  name,
  filters,
  version,
}: {
  readonly name: RouteName
  readonly filters: Filters
  readonly version: number
}) {
  const view = useView()
  const { data, error } = useQuery<RouteLatency>('routes/latency', { ...filters, ...name }, version)
  const text = routeText(name)
  return (
    <section class="card route-panel" aria-label={`Latency of ${text.slice(0, 200)}`}>
      <div class="route-head">
        <h2>{truncate(text, 200)}</h2>
        <a class="button small" href={createHref({ ...view, route: null })} aria-label="Close the plot">
          ✕
        </a>
      </div>
      {error !== undefined && <Problem error={error} />}
      {data !== undefined && data.buckets.length === 0 && <p class="muted">No request of this route is stored.</p>}
      {data !== undefined && data.buckets.length > 0 && (
        <>
          <LatencyPlot latency={data} name={text.slice(0, 200)} />
          <Fold summary="As a table">{() => <LatencyTable latency={data} />}</Fold>
        </>
      )}
      <Fold summary="Newest requests">{() => <Newest name={name} version={version} />}</Fold>
    </section>
  )
}

const LOOKED_AT = 500
const SHOWN = 15

function Newest({ name, version }: { readonly name: RouteName; readonly version: number }) {
  const { data, error } = useQuery<Page<StoredRequestLog>>('request-logs', { limit: LOOKED_AT }, version)
  if (error !== undefined) return <Problem error={error} />
  if (data === undefined) return <p class="muted">Loading …</p>
  const items = data.items.filter(({ request }) => isOfRoute(request, name)).slice(0, SHOWN)
  if (items.length === 0) return <p class="muted">None among the newest {LOOKED_AT} requests of all routes.</p>
  return (
    <div class="table-scroll">
      <table class="table newest">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Status</th>
            <th scope="col">Path</th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col">Service</th>
            <th scope="col">Entries</th>
          </tr>
        </thead>
        <tbody>
          {items.map(({ id, request }) => (
            <tr key={id}>
              <td>
                <Time at={request.timestamp} />
              </td>
              <td>
                <StatusCode code={request.status_code} />
              </td>
              <td class="path">{truncate(request.path, 120)}</td>
              <td class="number">{duration(request.duration_ms)}</td>
              <td>{truncate(request.service ?? '', 40)}</td>
              <td>
                {request.request_id.length <= 200 && (
                  <a
                    href={createHref({ filters: { request_id: entryRequestId(request.request_id) } })}
                    aria-label={`logs of request ${request.request_id}`}
                  >
                    logs
                  </a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
