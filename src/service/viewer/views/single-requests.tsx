/** Single requests, slowest or newest first, each with a link to its entries. */
import type { StoredRequestLog } from '../../store/stored-record.js'
import type { Parameters } from '../api.js'
import { Problem, Time } from '../components.js'
import { truncate } from '../detail/tree.js'
import { addTerm } from '../../query/language/index.js'
import { formatDuration } from '../view-format.js'
import { useView } from '../use-view.js'
import { createHref } from '../view.js'
import { OrderChoice } from './order-choice.js'
import { findRequestId } from './route-name.js'
import type { RouteName } from './route-name.js'
import { followRow } from './row-click.js'
import { Services } from './services.js'
import { StatusCode } from './status-code.js'
import { useList } from './use-list.js'
import { LINE } from './use-list-keys.js'

const FIRST = 15
const ORDERS = [
  [null, 'Slowest'],
  ['timestamp', 'Newest'],
] as const
/** Longer ids do not fit into a URL. */
const MAX_ID_CHARS = 200

interface SingleRequestsProps {
  readonly filters: Parameters
  /** Null for all routes. */
  readonly name: RouteName | null
  readonly version: number
}

export function SingleRequests({ filters, name, version }: SingleRequestsProps) {
  const sort = useView().sort === 'timestamp' ? 'timestamp' : 'duration'
  const q = String(filters['q'] ?? '')
  const ofRoute = name === null ? q : addTerm(addTerm(q, 'method', name.method), 'route', name.route)
  const parameters = { ...filters, ...(ofRoute !== '' && { q: ofRoute }), sort }
  const { items, error, more } = useList<StoredRequestLog>('request-logs', parameters, version, FIRST)
  return (
    <section class="single-requests" aria-label="Single requests">
      <div class="route-head">
        <h2>Single requests</h2>
        <OrderChoice choices={ORDERS} />
      </div>
      <Problem error={error} />
      {error === undefined && items === undefined && <p class="muted">Loading …</p>}
      {items?.length === 0 && <p class="muted">No request matches.</p>}
      {items !== undefined && items.length > 0 && <Table items={items} hasRoute={name === null} />}
      {more !== null && (
        <button type="button" class="more" onClick={more}>
          Show more requests
        </button>
      )}
    </section>
  )
}

function Table({ items, hasRoute }: { readonly items: readonly StoredRequestLog[]; readonly hasRoute: boolean }) {
  return (
    <div class="table-scroll">
      <table class="table requests">
        <thead>
          <tr>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col">Status</th>
            <th scope="col">Request</th>
            <th scope="col">Time</th>
            <th scope="col">Service</th>
          </tr>
        </thead>
        <tbody class="choosable" onClick={followRow}>
          {items.map((stored) => (
            <Row key={stored.id} stored={stored} hasRoute={hasRoute} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Row({ stored: { request }, hasRoute }: { readonly stored: StoredRequestLog; readonly hasRoute: boolean }) {
  const { method, path, route, status_code: status, duration_ms: ms, request_id: id, timestamp, service = '' } = request
  const text = `${truncate(method, 12)} ${truncate(path, 120)}`
  return (
    <tr>
      <td class="number">{formatDuration(ms)}</td>
      <td>
        <StatusCode code={status} />
      </td>
      <td class="path">
        {id !== '' && id.length <= MAX_ID_CHARS ? (
          <a
            class="group-link"
            href={createHref({ q: addTerm('', 'request_id', findRequestId(id)) })}
            title={`Entries of request ${id}`}
            {...LINE}
          >
            {text}
          </a>
        ) : (
          text
        )}
        {hasRoute && route !== undefined && route !== path && <span class="muted"> {truncate(route, 80)}</span>}
      </td>
      <td>
        <Time at={timestamp} />
      </td>
      <Services services={service === '' ? [] : [service]} />
    </tr>
  )
}
