/** The view "requests": statistics by route, and the slowest requests of one. */
import type { RouteStats } from '../../query/api-types.js'
import { addTerm, excludeValues } from '../../query/language/index.js'
import type { Page, StoredRequestLog } from '../../store/stored-record.js'
import type { Parameters } from '../api.js'
import { useChanges } from '../changes.js'
import { truncate } from '../detail/tree.js'
import { formatCount, formatDuration, formatPercent, formatPlural } from '../view-format.js'
import { Ago, Empty, Time } from '../components.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { createHref, isFiltered } from '../view.js'
import { Loaded, Snippet, StartHint, ViewPage } from './list-page.js'
import { RecordTable, Services, findSort } from './record-table.js'
import type { Column } from './record-table.js'
import { areMostlyPaths, findRequestId } from './request-log.js'
import { Unused, ViewFilter, splitRequestQuery } from './view-filter.js'

const ENABLE = `import pino from 'pino'
import { ingestOptions } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout', requestLogs: true }))
// then as always: pinoHttp({ logger }), or Fastify({ loggerInstance: logger })`

const COLUMNS: readonly Column<RouteStats>[] = [
  {
    name: 'Route',
    cell: ({ method, route }) => (
      <span class="mono">
        <span class="method">{truncate(method, 12)}</span> {truncate(route, 200)}
      </span>
    ),
  },
  { name: 'Service', cell: ({ service }) => <Services services={service === null ? [] : [service]} /> },
  { name: 'Requests', sort: 'count', isNumber: true, cell: ({ count }) => formatCount(count) },
  {
    name: 'Errors',
    sort: 'error_rate',
    isNumber: true,
    cell: ({ errors, client_errors: clientErrors, error_rate: rate }) => (
      <span
        class={errors > 0 ? 'bad' : 'faint'}
        title={`${formatPlural(errors, 'response')} with 5xx, ${formatCount(clientErrors)} with 4xx`}
      >
        {formatPercent(rate)}
      </span>
    ),
  },
  ...(['p50', 'p95', 'p99'] as const).map((name): Column<RouteStats> => ({
    name,
    sort: `${name}_ms`,
    isNumber: true,
    cell: (route) => formatDuration(route[`${name}_ms`]),
  })),
  { name: 'Last', sort: 'last_seen', cell: ({ last_seen: at }) => <Ago at={at} /> },
]

export function RequestsView() {
  const view = useView()
  const { q, unused } = splitRequestQuery(view.q)
  const filters = useFilterParameters({ ...view, q })
  const version = useChanges('request')
  const query = useQuery<{ readonly items: readonly RouteStats[] }>('routes', filters, version)
  const sort = findSort(COLUMNS, view.sort) as keyof RouteStats
  const routes = query.data?.items ?? []
  const requests = routes.reduce((sum, one) => sum + one.count, 0)
  return (
    <ViewPage
      filter={
        <>
          <ViewFilter kind="requests" error={query.error} />
          <Unused parts={unused} without={{ q }} />
        </>
      }
      about={
        routes.length === 0
          ? undefined
          : `${formatPlural(requests, 'request')} on ${formatPlural(routes.length, 'route')}`
      }
    >
      {areMostlyPaths(routes) && (
        <p class="note">
          Each path counts as a route of its own: log <code>route</code>, see docs/request-analytics.md.
        </p>
      )}
      <Loaded query={query}>
        {({ items }) =>
          items.length > 0 ? (
            <RecordTable
              label="Routes"
              items={items.toSorted((a, b) => ((a[sort] ?? '') < (b[sort] ?? '') ? 1 : -1))}
              columns={COLUMNS}
              keyOf={({ service, method, route }) => `${service ?? ''} ${method} ${route}`}
              detail={(route) => <Slowest route={route} filters={filters} version={version} />}
            />
          ) : isFiltered(view) ? (
            <Empty title="No request matches">
              <p>No request log matches these filters.</p>
            </Empty>
          ) : (
            <Empty title="No requests yet">
              <p>With this option the transport creates request logs from the records of pino-http or Fastify:</p>
              <Snippet code={ENABLE} />
              <StartHint />
            </Empty>
          )
        }
      </Loaded>
    </ViewPage>
  )
}

const SLOWEST = 15

const REQUEST_COLUMNS: readonly Column<StoredRequestLog>[] = [
  { name: 'Slowest requests', cell: ({ request }) => <RequestLink request={request} /> },
  { name: 'Duration', isNumber: true, cell: ({ request }) => formatDuration(request.duration_ms) },
  {
    name: 'Status',
    isNumber: true,
    cell: ({ request: { status_code: code } }) => <span class={code >= 400 ? 'bad' : undefined}>{code}</span>,
  },
  { name: 'Time', cell: ({ request }) => <Time at={request.timestamp} /> },
]

interface SlowestProps {
  readonly route: RouteStats
  readonly filters: Parameters
  readonly version: number
}

/** The slowest requests of a route, and its latency over time as the chart of its entries. */
function Slowest({ route: { service, method, route }, filters, version }: SlowestProps) {
  const view = useView()
  const narrow = (q: string): string => {
    const ofRoute = addTerm(addTerm(q, 'method', method), 'route', route)
    return service === null ? excludeValues(ofRoute, 'service') : addTerm(ofRoute, 'service', service)
  }
  const parameters = { ...filters, q: narrow(String(filters['q'] ?? '')), sort: 'duration', limit: SLOWEST }
  const query = useQuery<Page<StoredRequestLog>>('request-logs', parameters, version)
  const entries = {
    ...view,
    name: 'entries',
    q: narrow(view.q),
    chart: 'p95(duration)',
    open: null,
    sort: null,
  } as const
  return (
    <Loaded query={query}>
      {({ items }) => (
        <>
          <p>
            <a href={createHref(entries)}>Entries of this route, with its p95 over time</a>
          </p>
          <RecordTable label="Slowest requests" items={items} columns={REQUEST_COLUMNS} keyOf={({ id }) => id} />
        </>
      )}
    </Loaded>
  )
}

/** Longer ids do not fit into a URL. */
const MAX_ID_CHARS = 200
/** Request log and entries of a request may have different clocks for its end. */
const MARGIN_MS = 1_000

/** A link to the entries of a request. The time is part of it, because most applications count ids from 1 in each process. */
function RequestLink({ request }: { readonly request: StoredRequestLog['request'] }) {
  const { method, path, request_id: id, service = '', timestamp, duration_ms: ms } = request
  const text = `${truncate(method, 12)} ${truncate(path, 120)}`
  if (id === '' || id.length > MAX_ID_CHARS) return <>{text}</>
  const ofId = addTerm('', 'request_id', findRequestId(id))
  const toTime = (fromMs: number): string => new Date(Date.parse(timestamp) + fromMs).toISOString()
  const q = service === '' ? ofId : addTerm(ofId, 'service', service)
  return (
    <a
      class="record-link mono"
      href={createHref({ q, since: toTime(-ms - MARGIN_MS), until: toTime(ms + MARGIN_MS) })}
      title={`Entries of request ${id}`}
      data-line
    >
      {text}
    </a>
  )
}
