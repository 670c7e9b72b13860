/** The view "rejected": requests that the real service would have refused, and the reasons. */
import type { RejectedBatch } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { Many } from '../detail/show-more.js'
import { truncate } from '../detail/tree.js'
import { formatCount, formatPlural } from '../view-format.js'
import { Empty } from '../components.js'
import { Ago } from './ago.js'
import { ListPage } from './list-page.js'
import { groupReasons } from './reasons.js'
import type { ReasonGroup } from './reasons.js'
import { UnusedFilter } from './unused-filter.js'
import { useList } from './use-list.js'

export function RejectedView() {
  const list = useList<RejectedBatch>('rejected', {}, useChanges('rejected'))
  return (
    <ListPage
      title="Rejected"
      about="Requests that the real service would have refused, whole or in part."
      filter={<UnusedFilter />}
      list={list}
      empty={
        <Empty title="Nothing was rejected">
          <p>All requests were valid so far. Refused ones are listed here.</p>
        </Empty>
      }
    >
      {(items) => (
        <ul class="cards">
          {items.map((one) => (
            <Rejected key={one.id} rejected={one} />
          ))}
        </ul>
      )}
    </ListPage>
  )
}

function Rejected({ rejected }: { readonly rejected: RejectedBatch }) {
  const refused = rejected.entries - rejected.accepted
  return (
    <li class="card rejected">
      <div class="rejected-head">
        <span class="status bad">{rejected.status}</span>
        <h2>{PATHS[rejected.endpoint]}</h2>
        <span class="muted">
          <Ago at={rejected.received_at} />
        </span>
      </div>
      <p class="rejected-what">
        {rejected.entries > 0 && (
          <span>
            {formatCount(refused)} of {formatPlural(rejected.entries, 'entry', 'entries')} refused
            {rejected.accepted > 0 && `, ${formatCount(rejected.accepted)} accepted`}
          </span>
        )}
        {rejected.batch_id !== null && (
          <span>
            batch <code>{truncate(rejected.batch_id, 100)}</code>
          </span>
        )}
      </p>
      <Many items={groupReasons(rejected.reasons)} step={8} noun="reasons">
        {(reasons) => (
          <ul class="reasons">
            {reasons.map((reason) => (
              <Reason key={reason.message} reason={reason} />
            ))}
          </ul>
        )}
      </Many>
    </li>
  )
}

const PATHS: Readonly<Record<RejectedBatch['endpoint'], string>> = {
  ingest: 'POST /ingest',
  requests: 'POST /ingest/requests',
  feedback: 'POST /feedback',
  releases: 'POST /releases/register',
  heartbeat: 'POST /heartbeat/…',
}

function Reason({ reason: { message, places } }: { readonly reason: ReasonGroup }) {
  return (
    <li>
      <p class="reason-message">{truncate(message, 500)}</p>
      <Many items={places} step={6} noun="places">
        {(shown) => (
          <ul class="places">
            {shown.map((place, index) => (
              <li key={index}>
                <code>
                  <span>{truncate(place.path, 200)}</span>
                  {place.value !== undefined && <b>: {place.value}</b>}
                </code>
                {place.entry?.service !== undefined && <span class="chip">{place.entry.service}</span>}
                {place.entry?.message !== undefined && <span>{place.entry.message}</span>}
              </li>
            ))}
          </ul>
        )}
      </Many>
    </li>
  )
}
