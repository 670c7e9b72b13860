/** The view "errors": one row per failure. */
import type { ErrorGroup } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { EntriesLink } from '../detail/entries-link.js'
import { truncate } from '../detail/tree.js'
import { formatCount, formatPlural } from '../view-format.js'
import { Bars, Empty, LevelBadge } from '../components.js'
import { useView } from '../use-view.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { createHref, isFiltered } from '../view.js'
import { Ago } from './ago.js'
import { GroupMeta } from './group-meta.js'
import { ListPage } from './list-page.js'
import { OrderChoice } from './order-choice.js'
import { followRow } from './row-click.js'
import { Services } from './services.js'
import { Snippet, StartHint } from './snippet.js'
import { useList } from './use-list.js'
import { LINE } from './use-list-keys.js'
import { ViewFilter } from './view-filter.js'

const ORDERS = [
  [null, 'Last seen'],
  ['count', 'Most frequent'],
] as const

const CAPTURE = `import pino from 'pino'
import { captureError, ingestOptions } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout' }))
logger.error({ err: new Error('card declined') }, 'payment failed')
captureError(logger, new Error('card declined')) // gives an id for the error page`

export function ErrorsView() {
  const view = useView()
  const parameters = { ...useFilterParameters(view), sort: view.sort === 'count' ? 'count' : 'last_seen' }
  const list = useList<ErrorGroup>('error-groups', parameters, useChanges('entry', 'feedback'))
  return (
    <ListPage
      title="Errors"
      about={`${formatPlural(list.items?.length ?? 0, 'group')}${list.more === null ? '' : ' and more'}`}
      filter={<ViewFilter kind="entries" error={list.error} hasLevels={false} />}
      tools={<OrderChoice choices={ORDERS} />}
      list={list}
      empty={
        isFiltered(view) ? (
          <Empty title="No error matches">
            <p>No entry with an error matches the filter.</p>
          </Empty>
        ) : (
          <Empty title="No errors yet">
            <p>Errors are grouped here by failure.</p>
            <Snippet code={CAPTURE} />
            <StartHint />
          </Empty>
        )
      }
    >
      {(groups) => <Groups groups={groups} />}
    </ListPage>
  )
}

function Groups({ groups }: { readonly groups: readonly ErrorGroup[] }) {
  return (
    <div class="card table-scroll">
      <table class="table groups">
        <thead>
          <tr>
            <th scope="col">Error</th>
            <th scope="col">Service</th>
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
          {groups.map((group) => (
            <Group key={group.fingerprint} group={group} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Group({ group }: { readonly group: ErrorGroup }) {
  const view = useView()
  return (
    <tr class={view.entry === group.newest ? 'selected' : undefined}>
      <td class="group-what">
        <p class="group-line">
          <a
            class="group-link"
            href={createHref({ ...view, entry: group.newest })}
            title="Open the newest entry"
            {...LINE}
          >
            <LevelBadge level={group.level} /> <b>{truncate(group.type ?? 'No error type', 120)}</b>
          </a>
          <span class="group-message">{truncate(group.message, 300)}</span>
        </p>
        <GroupMeta group={group} />
      </td>
      <Services services={group.services} />
      <td data-name="Trend">
        <Bars values={group.trend} label={trendText(group.trend)} />
      </td>
      <td class="number" data-name="Entries">
        <EntriesLink name="fingerprint" value={group.fingerprint} title="All entries of this group">
          {formatCount(group.count)}
        </EntriesLink>
      </td>
      <td class="number" data-name="Users">
        {group.users === 0 ? <span class="faint">–</span> : group.users >= 1_000 ? '1,000+' : formatCount(group.users)}
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
  return `${formatCount(sum(trend.slice(0, half)))} in the first half of the time, ${formatCount(sum(trend.slice(half)))} in the second`
}
