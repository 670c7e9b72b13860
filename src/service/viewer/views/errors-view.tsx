/** The view "errors": one row per failure. */
import type { ErrorGroup } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { EntriesLink } from '../detail/entries-link.js'
import { FeedbackMark } from '../detail/related-view.js'
import { truncate } from '../detail/tree.js'
import { formatCount, formatPlural } from '../view-format.js'
import { Ago, Bars, Empty, LevelBadge } from '../components.js'
import { useView } from '../use-view.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { createHref, isFiltered } from '../view.js'
import { ListPage, Snippet, StartHint, useList } from './list-page.js'
import { RecordTable, Services, findSort } from './record-table.js'
import type { Column } from './record-table.js'
import { ViewFilter } from './view-filter.js'

const CAPTURE = `import pino from 'pino'
import { captureError, ingestOptions } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout' }))
logger.error({ err: new Error('card declined') }, 'payment failed')
captureError(logger, new Error('card declined')) // gives an id for the error page`

const COLUMNS: readonly Column<ErrorGroup>[] = [
  { name: 'Error', cell: (group) => <Group group={group} /> },
  { name: 'Service', cell: (group) => <Services services={group.services} /> },
  { name: 'Trend', cell: ({ trend }) => <Bars values={trend} label={formatTrend(trend)} /> },
  {
    name: 'Last seen',
    sort: 'last_seen',
    cell: (group) => (
      <>
        <Ago at={group.last_seen} />
        <span class="faint second-line">
          first <Ago at={group.first_seen} />
        </span>
      </>
    ),
  },
  {
    name: 'Entries',
    sort: 'count',
    isNumber: true,
    cell: ({ fingerprint, count }) => (
      <EntriesLink name="fingerprint" value={fingerprint} title="All entries of this group">
        {formatCount(count)}
      </EntriesLink>
    ),
  },
  {
    name: 'Users',
    isNumber: true,
    cell: ({ users }) => (users === 0 ? <span class="faint">–</span> : users >= 1_000 ? '1,000+' : formatCount(users)),
  },
]

export function ErrorsView() {
  const view = useView()
  const parameters = { ...useFilterParameters(view), sort: findSort(COLUMNS, view.sort) }
  const list = useList<ErrorGroup>('error-groups', parameters, useChanges('entry', 'feedback'))
  return (
    <ListPage
      about={`${formatPlural(list.data?.length ?? 0, 'group')}${list.more === null ? '' : ' and more'}`}
      filter={<ViewFilter kind="entries" error={list.error} hasLevels={false} />}
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
      {(groups) => (
        <RecordTable
          label="Errors"
          items={groups}
          columns={COLUMNS}
          keyOf={({ fingerprint }) => fingerprint}
          rowClass={({ newest }) => (newest === view.entry ? 'selected' : undefined)}
        />
      )}
    </ListPage>
  )
}

/** Type and message of an error, with a link to its newest entry. */
export function ErrorLink({ group }: { readonly group: ErrorGroup }) {
  const view = useView()
  const { type, message } = group
  return (
    <p class="group-line">
      <a
        class="record-link"
        href={createHref({ ...view, entry: group.newest })}
        title="Open the newest entry"
        data-line
      >
        <LevelBadge level={group.level} /> <b>{truncate(type ?? message, 120)}</b>
      </a>{' '}
      {type !== null && truncate(message, 300)}
    </p>
  )
}

function Group({ group }: { readonly group: ErrorGroup }) {
  const { is_new: isNew, route, is_given: isGiven, fingerprint } = group
  const versions = formatVersions(group)
  return (
    <>
      <ErrorLink group={group} />
      <div class="group-meta">
        {isNew && (
          <span class="mark-new" title="First seen in the latest version">
            new
          </span>
        )}
        {route !== null && <code>{truncate(route, 120)}</code>}
        <FeedbackMark count={group.feedback} />
        {versions !== null && <span>{versions}</span>}
        {isGiven && <span title={truncate(fingerprint, 200)}>own fingerprint</span>}
        <Users group={group} />
      </div>
    </>
  )
}

function Users({ group: { top_users: users, users: total } }: { readonly group: ErrorGroup }) {
  if (users.length === 0) return null
  return (
    <ul class="group-users" aria-label="Users">
      {users.map(({ user, count: entries }) => (
        <li key={user}>
          <EntriesLink name="user" value={user} isId title={`All entries of ${truncate(user, 100)}`}>
            {truncate(user, 40)}
          </EntriesLink>
          {entries > 1 && <span class="faint"> ×{entries}</span>}
        </li>
      ))}
      {total > users.length && <li class="faint">and {total - users.length} more</li>}
    </ul>
  )
}

function formatVersions({ first_version: first, last_version: last }: ErrorGroup): string | null {
  if (first === null || last === null) return null
  return first === last ? `version ${truncate(first, 40)}` : `versions ${truncate(first, 40)} to ${truncate(last, 40)}`
}

function formatTrend(trend: readonly number[]): string {
  const half = Math.floor(trend.length / 2)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  return `${formatCount(sum(trend.slice(0, half)))} in the first half of the time, ${formatCount(sum(trend.slice(half)))} in the second`
}
