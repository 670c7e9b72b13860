/** The view "rejected": requests that the real service would have rejected, and the reasons. */
import type { RejectedRequest, RejectionReason } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { Many } from '../detail/show-more.js'
import { formatPath, truncate } from '../detail/tree.js'
import { formatCount, formatPlural } from '../view-format.js'
import { Ago, Empty } from '../components.js'
import { ListPage, useList } from './list-page.js'
import { RecordTable } from './record-table.js'
import type { Column } from './record-table.js'
import { UnusedFilter } from './view-filter.js'

const PATHS: Readonly<Record<RejectedRequest['endpoint'], string>> = {
  ingest: 'POST /ingest',
  requests: 'POST /ingest/requests',
  feedback: 'POST /feedback',
  releases: 'POST /releases/register',
  heartbeat: 'POST /heartbeat/…',
}

const COLUMNS: readonly Column<RejectedRequest>[] = [
  {
    name: 'Request',
    cell: ({ status, endpoint }) => (
      <>
        <b class="bad">{status}</b> {PATHS[endpoint]}
      </>
    ),
  },
  {
    name: 'Reason',
    cell: ({ reasons: [first, ...others] }) =>
      first !== undefined && (
        <>
          <RejectedField reason={first} /> {truncate(first.message, 200)}
          {others.length > 0 && <span class="muted"> and {formatCount(others.length)} more</span>}
        </>
      ),
  },
  {
    name: 'Rejected',
    isNumber: true,
    cell: ({ entries, accepted }) =>
      entries > 0 ? `${formatCount(entries - accepted)} of ${formatCount(entries)}` : '',
  },
  { name: 'Batch', cell: ({ batch_id: id }) => id !== null && <code>{truncate(id, 40)}</code> },
  { name: 'Received', cell: ({ received_at: at }) => <Ago at={at} /> },
]

export function RejectedView() {
  const list = useList<RejectedRequest>('rejected', {}, useChanges('rejected'))
  return (
    <ListPage
      about="Requests that the real service would have rejected, whole or in part."
      filter={<UnusedFilter />}
      list={list}
      empty={
        <Empty title="Nothing was rejected">
          <p>All requests were valid so far. Rejected ones are listed here.</p>
        </Empty>
      }
    >
      {(items) => (
        <RecordTable
          label="Rejected requests"
          items={items}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          detail={(rejected) => <Reasons rejected={rejected} />}
        />
      )}
    </ListPage>
  )
}

function Reasons({ rejected: { reasons, accepted } }: { readonly rejected: RejectedRequest }) {
  return (
    <Many items={reasons} step={20} noun="reasons">
      {(shown) => (
        <ul class="reasons">
          {accepted > 0 && <li class="muted">{formatPlural(accepted, 'entry', 'entries')} accepted</li>}
          {shown.map((reason, index) => (
            <li key={index}>
              <RejectedField reason={reason} /> {truncate(reason.message, 500)}{' '}
              {reason.entry?.service !== undefined && <span class="chip">{reason.entry.service}</span>}{' '}
              {reason.entry?.message}
            </li>
          ))}
        </ul>
      )}
    </Many>
  )
}

function RejectedField({ reason: { loc, value } }: { readonly reason: RejectionReason }) {
  return (
    <code class="place">
      {loc.length === 0 ? 'the body' : truncate(formatPath(loc), 200)}
      {value !== undefined && <b>: {value}</b>}
    </code>
  )
}
