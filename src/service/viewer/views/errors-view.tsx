/** The view "errors": one row per failure. */
import { useMemo, useState } from 'preact/hooks'
import type { ErrorGroup } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { EntriesLink } from '../detail/entries-link.js'
import { truncate } from '../detail/tree.js'
import { count, plural } from '../view-format.js'
import { Bars, Empty, LevelBadge } from '../components.js'
import { useView } from '../use-view.js'
import { FILTER_NAMES, createHref } from '../view.js'
import type { Filters } from '../view.js'
import { ActiveFilters } from './active-filters.js'
import { Ago } from './ago.js'
import { ListPage } from './list-page.js'
import { followRow } from './row-click.js'
import { Snippet, StartHint } from './snippet.js'
import { useList } from './use-list.js'
import { LINE } from './use-list-keys.js'

type Order = 'last_seen' | 'count'

const CAPTURE = `import pino from 'pino'
import { captureError, ingestOptions } from 'pino-ingest'

const logger = pino(ingestOptions({
  transport: { target: 'pino-ingest', options: { service: 'checkout' } },
}))
logger.error({ err: new Error('card declined') }, 'payment failed')
captureError(logger, new Error('card declined')) // gives an id for the error page`

export function ErrorsView() {
  const { filters } = useView()
  const list = useList<ErrorGroup>('error-groups', filters, useChanges('entry'))
  const [order, setOrder] = useState<Order>('last_seen')
  const isFiltered = Object.keys(filters).length > 0
  return (
    <ListPage
      title="Errors"
      about={`${plural(list.items?.length ?? 0, 'group')}${list.more === null ? '' : ' and more'}`}
      tools={<OrderChoice order={order} onChoose={setOrder} />}
      list={list}
      empty={
        isFiltered ? (
          <Empty title="No error matches">
            <ActiveFilters names={FILTER_NAMES} />
          </Empty>
        ) : (
          <Empty title="No errors yet">
            <p>Entries of level error and fatal, and others with an error, are grouped here by failure.</p>
            <Snippet code={CAPTURE} />
            <StartHint />
          </Empty>
        )
      }
    >
      {(groups) => (
        <>
          <ActiveFilters names={FILTER_NAMES} />
          <Groups groups={groups} order={order} filters={filters} />
        </>
      )}
    </ListPage>
  )
}

function OrderChoice({ order, onChoose }: { readonly order: Order; readonly onChoose: (order: Order) => void }) {
  const choice = (value: Order, text: string) => (
    <button type="button" class="button small" aria-pressed={order === value} onClick={() => onChoose(value)}>
      {text}
    </button>
  )
  return (
    <div role="group" aria-label="Order" class="choice">
      {choice('last_seen', 'Last seen')}
      {choice('count', 'Most frequent')}
    </div>
  )
}

function Groups({
  groups,
  order,
  filters,
}: {
  readonly groups: readonly ErrorGroup[]
  readonly order: Order
  readonly filters: Filters
}) {
  const sorted = useMemo(
    () => (order === 'count' ? groups.toSorted((a, b) => b.count - a.count) : groups),
    [groups, order],
  )
  return (
    <div class="card table-scroll">
      <table class="table groups">
        <thead>
          <tr>
            <th scope="col">Error</th>
            <th scope="col">Trend</th>
            <th scope="col" class="number">
              Entries
            </th>
            <th scope="col" class="number">
              Users
            </th>
            <th scope="col">Last seen</th>
          </tr>
        </thead>
        <tbody class="choosable" onClick={followRow}>
          {sorted.map((group) => (
            <Group key={group.fingerprint} group={group} filters={filters} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Group({ group, filters }: { readonly group: ErrorGroup; readonly filters: Filters }) {
  const view = useView()
  return (
    <tr class={view.entry === group.newest ? 'selected' : undefined}>
      <td class="group-what">
        <a
          class="group-link"
          href={createHref({ ...view, entry: group.newest })}
          title="Open the newest entry"
          {...LINE}
        >
          <LevelBadge level={group.level} /> <b>{truncate(group.type ?? 'No error type', 120)}</b>
        </a>
        <p class="group-message">{truncate(group.message, 300)}</p>
        <p class="group-meta">
          {group.services.map((service) => (
            <span key={service} class="chip">
              {truncate(service, 40)}
            </span>
          ))}
          {group.versions.length > 0 && <span>{truncate(group.versions.join(', '), 80)}</span>}
          {group.is_given && <span title={truncate(group.fingerprint, 200)}>own fingerprint</span>}
        </p>
      </td>
      <td data-name="Trend">
        <Bars values={group.trend} label={trendText(group.trend)} />
      </td>
      <td class="number" data-name="Entries">
        <EntriesLink name="fingerprint" value={group.fingerprint} others={filters} title="All entries of this group">
          {count(group.count)}
        </EntriesLink>
      </td>
      <td class="number" data-name="Users">
        {group.users === 0 ? <span class="faint">–</span> : group.users >= 1_000 ? '1,000+' : count(group.users)}
      </td>
      <td class="group-seen" data-name="Last seen">
        <Ago at={group.last_seen} />
        <span class="faint">
          first <Ago at={group.first_seen} />
        </span>
      </td>
    </tr>
  )
}

function trendText(trend: readonly number[]): string {
  const half = Math.floor(trend.length / 2)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return `${count(sum(trend.slice(0, half)))} in the first half of the time, ${count(sum(trend.slice(half)))} in the second`
}
