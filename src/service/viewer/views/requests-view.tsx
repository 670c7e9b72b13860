/** The view "requests": statistics by route, single requests, and one route's latency over time. */
import type { RouteStats } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { Many } from '../detail/show-more.js'
import { truncate } from '../detail/tree.js'
import { formatCount, formatDuration, formatPercent, formatPlural } from '../view-format.js'
import { Empty, Problem } from '../components.js'
import { useQuery } from '../use-query.js'
import { navigate, useView } from '../use-view.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { createHref, isFiltered } from '../view.js'
import { Ago } from './ago.js'
import { ViewPage } from './list-page.js'
import { NO_SERVICE, areMostlyPaths, parseRouteName, formatRoute } from './route-name.js'
import { RequestFilters } from './request-filters.js'
import { RoutePanel } from './route-panel.js'
import { followRow } from './row-click.js'
import { SingleRequests } from './single-requests.js'
import { Services } from './services.js'
import { Snippet, StartHint } from './snippet.js'
import { formatOrder, toggleOrder, parseOrder, sortRows } from './sort.js'
import { LINE } from './use-list-keys.js'
import { Unused, splitRequestQuery } from './unused-filter.js'
import { ViewFilter } from './view-filter.js'

const ENABLE = `import pino from 'pino'
import { ingestOptions } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout', requestLogs: true }))
// then as always: pinoHttp({ logger }), or Fastify({ loggerInstance: logger })`

export function RequestsView() {
  const view = useView()
  const { q, unused } = splitRequestQuery(view.q)
  const filters = useFilterParameters({ ...view, q })
  const version = useChanges('request')
  const { data, error } = useQuery<{ readonly items: readonly RouteStats[] }>('routes', filters, version)
  const routes = data?.items
  const selected = parseRouteName(view)
  const requests = routes?.reduce((sum, one) => sum + one.count, 0) ?? 0
  return (
    <ViewPage
      title="Requests"
      filter={<ViewFilter kind="requests" error={error} />}
      about={
        routes === undefined || routes.length === 0
          ? undefined
          : `${formatPlural(requests, 'request')} on ${formatPlural(routes.length, 'route')}`
      }
    >
      <Problem error={error} />
      <Unused parts={unused} without={{ q }} />
      {error === undefined && routes === undefined && <p class="muted">Loading …</p>}
      <RequestFilters />
      {selected !== null && <RoutePanel name={selected} filters={filters} version={version} />}
      {routes?.length === 0 &&
        (isFiltered(view) ? (
          <Empty title="No request matches">
            <p>No request log matches these filters.</p>
          </Empty>
        ) : (
          <Empty title="No requests yet">
            <p>With this option the transport creates request logs from the records of pino-http or Fastify:</p>
            <Snippet code={ENABLE} />
            <StartHint />
          </Empty>
        ))}
      {routes !== undefined && areMostlyPaths(routes) && (
        <p class="note">
          Each path counts as a route of its own: log <code>route</code>, see docs/mapping.md.
        </p>
      )}
      {routes !== undefined && routes.length > 0 && <Routes routes={routes} />}
      {selected === null && routes !== undefined && routes.length > 0 && (
        <div class="card route-panel">
          <SingleRequests filters={filters} name={null} version={version} />
        </div>
      )}
    </ViewPage>
  )
}

type Column = 'route' | 'service' | 'count' | 'error_rate' | 'p50_ms' | 'p95_ms' | 'p99_ms' | 'last_seen'

const COLUMNS: readonly (readonly [Column, string])[] = [
  ['route', 'Route'],
  ['service', 'Service'],
  ['count', 'Requests'],
  ['error_rate', 'Errors'],
  ['p50_ms', 'p50'],
  ['p95_ms', 'p95'],
  ['p99_ms', 'p99'],
  ['last_seen', 'Last'],
]

function Routes({ routes }: { readonly routes: readonly RouteStats[] }) {
  const order = parseOrder(useView().routes, ['count', ...COLUMNS.map(([key]) => key)])
  const sorted = sortRows(routes, order)
  return (
    <Many items={sorted} step={25} noun="routes">
      {(shown) => (
        <div class="card table-scroll">
          <table class="table routes">
            <thead>
              <tr>
                {COLUMNS.map(([key, text]) => (
                  <th
                    key={key}
                    scope="col"
                    class={isText(key) ? undefined : 'number'}
                    aria-sort={order.key === key ? (order.isDescending ? 'descending' : 'ascending') : undefined}
                  >
                    <button
                      type="button"
                      class="sort"
                      onClick={() =>
                        navigate(
                          { routes: formatOrder(toggleOrder(order, key, key === 'route' || key === 'service')) },
                          { replace: true },
                        )
                      }
                    >
                      {text}
                    </button>
                  </th>
                ))}
              </tr>
            </thead>
            <tbody class="choosable" onClick={followRow}>
              {shown.map((route) => (
                <Row key={`${route.service} ${formatRoute(route)}`} route={route} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Many>
  )
}

function isText(column: Column): boolean {
  return column === 'route' || column === 'service' || column === 'last_seen'
}

function Row({ route }: { readonly route: RouteStats }) {
  const view = useView()
  const text = formatRoute(route)
  const service = route.service ?? NO_SERVICE
  const isSelected = view.route === text && (view.service ?? service) === service
  return (
    <tr class={isSelected ? 'selected' : undefined}>
      <td class="route-name">
        <a
          href={createHref({ ...view, ...(isSelected ? { route: null, service: null } : { route: text, service }) })}
          aria-current={isSelected ? 'true' : undefined}
          {...LINE}
        >
          <span class="method">{truncate(route.method, 12)}</span> {truncate(route.route, 200)}
        </a>
      </td>
      <Services services={route.service === null ? [] : [route.service]} />
      <td class="number" data-name="Requests">
        {formatCount(route.count)}
      </td>
      <td class="number" data-name="Errors">
        <span
          class={route.errors > 0 ? 'bad' : 'faint'}
          title={`${formatPlural(route.errors, 'response')} with 5xx, ${formatCount(route.client_errors)} with 4xx`}
        >
          {formatPercent(route.error_rate)}
        </span>
      </td>
      <td class="number" data-name="p50">
        {formatDuration(route.p50_ms)}
      </td>
      <td class="number" data-name="p95">
        {formatDuration(route.p95_ms)}
      </td>
      <td class="number" data-name="p99">
        {formatDuration(route.p99_ms)}
      </td>
      <td data-name="Last" class="muted">
        <Ago at={route.last_seen} />
      </td>
    </tr>
  )
}
