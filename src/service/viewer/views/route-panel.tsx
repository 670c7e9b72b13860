/** One route: its latency over time, and its requests. */
import type { RouteLatency } from '../../query/api-types.js'
import { truncate } from '../detail/tree.js'
import { Problem } from '../components.js'
import { zoomIn } from '../entries/zoom.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { createHref } from '../view.js'
import type { Parameters } from '../api.js'
import { LatencyPlot } from './latency-plot.js'
import { NO_SERVICE, formatRoute } from './route-name.js'
import type { RouteName } from './route-name.js'
import { SingleRequests } from './single-requests.js'

export function RoutePanel({
  name,
  filters,
  version,
}: {
  readonly name: RouteName
  readonly filters: Parameters
  readonly version: number
}) {
  const view = useView()
  const { service } = name
  const ofRoute =
    service === null
      ? filters
      : service === NO_SERVICE
        ? { ...filters, q: `${filters['q'] ?? ''} -service:*`.trim() }
        : { ...filters, service }
  const { data, error } = useQuery<RouteLatency>(
    'routes/latency',
    { ...ofRoute, method: name.method, route: name.route },
    version,
  )
  const text = [name.service ?? [], formatRoute(name)].flat().join(' ')
  return (
    <section class="card route-panel" aria-label={`Latency of ${text.slice(0, 200)}`}>
      <div class="route-head">
        <h2>{truncate(text, 200)}</h2>
        <a class="button small" href={createHref({ ...view, route: null, service: null })} aria-label="Close the plot">
          ✕
        </a>
      </div>
      <Problem error={error} />
      {data !== undefined && data.buckets.length === 0 && <p class="muted">No request of this route is stored.</p>}
      {data !== undefined && data.buckets.length > 0 && (
        <LatencyPlot latency={data} name={text.slice(0, 200)} onChoose={(time) => zoomIn(view, time)} />
      )}
      <SingleRequests filters={ofRoute} name={name} version={version} />
    </section>
  )
}
