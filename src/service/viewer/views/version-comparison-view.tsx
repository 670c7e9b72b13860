/** Compares two versions: error rates, latency by route, new and gone errors. */
import type { ErrorGroup, ReleaseComparison, VersionSummary } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { LevelBadge, Problem } from '../components.js'
import { Many } from '../detail/show-more.js'
import { truncate } from '../detail/tree.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useQuery } from '../use-query.js'
import { navigate, useView } from '../use-view.js'
import { formatCount, formatPlural } from '../view-format.js'
import { createHref } from '../view.js'
import { Services } from './services.js'
import { LINE } from './use-list-keys.js'
import { compareRoutes, compareSides } from './version-comparison.js'
import type { ComparisonRow, RouteRow } from './version-comparison.js'
import { ViewFilter } from './view-filter.js'

/** The comparison with its filter. Default: the two newest versions. Versions in the address are used even if they are no longer stored. */
export function VersionComparison() {
  const view = useView()
  const version = useChanges('entry', 'request')
  const filters = useFilterParameters(view)
  const versions = useQuery<{ readonly items: readonly VersionSummary[] }>('versions', {}, version)
  const items = versions.data?.items ?? []
  const after = view.after ?? items.find((one) => one.version !== view.before)?.version ?? null
  const before = view.before ?? items.find((one) => one.version !== after)?.version ?? null
  const comparison = useQuery<ReleaseComparison>(
    before === null || after === null ? null : 'release-comparison',
    { ...filters, before: before ?? '', after: after ?? '' },
    version,
  )
  const choose = (side: 'before' | 'after', value: string, label: string) => (
    <label>
      {label}{' '}
      <select
        class="select"
        value={value}
        onChange={(event) => navigate({ before, after, [side]: event.currentTarget.value }, { replace: true })}
      >
        {[...new Set([...items.map((one) => one.version), value])].map((one) => (
          <option key={one} value={one}>
            {truncate(one, 60)}
          </option>
        ))}
      </select>
    </label>
  )
  const error = versions.error ?? comparison.error
  return (
    <>
      <ViewFilter kind="entries" error={error} />
      <Problem error={error} />
      {error === undefined &&
        comparison.data === undefined &&
        (versions.data === undefined || comparison.isLoading) && <p class="muted">Loading …</p>}
      {versions.data !== undefined && (before === null || after === null) && (
        <p class="note">Entries of two versions are needed to compare errors and latencies.</p>
      )}
      {before !== null && after !== null && (
        <section class="card version-comparison" aria-label="Comparison of two versions">
          <div class="version-choice">
            <h2>Compare</h2>
            {choose('before', before, 'Before')}
            {choose('after', after, 'After')}
          </div>
          {comparison.data !== undefined && <Compared data={comparison.data} />}
        </section>
      )}
    </>
  )
}

function Compared({ data }: { readonly data: ReleaseComparison }) {
  const routes = compareRoutes(data.routes)
  return (
    <>
      <Rows
        rows={compareSides(data.before, data.after)}
        title="All"
        before={data.before.version}
        after={data.after.version}
      />
      <Groups title="New errors" groups={data.new_groups} none="No error is new." />
      <Groups title="Gone errors" groups={data.gone_groups} none="No error is gone." />
      {routes.length > 0 && (
        <Many items={routes} step={15} noun="routes">
          {(shown) => (
            <Rows rows={shown} title="p95 by route" before={data.before.version} after={data.after.version} />
          )}
        </Many>
      )}
    </>
  )
}

interface RowsProps {
  readonly rows: readonly (ComparisonRow & Partial<Pick<RouteRow, 'service'>>)[]
  readonly title: string
  readonly before: string
  readonly after: string
}

const SIGNS = { worse: '▲ worse', better: '▼ better', same: '' } as const

function Rows({ rows, title, before, after }: RowsProps) {
  const hasService = rows.some(({ service }) => service !== undefined)
  return (
    <div class="table-scroll" tabIndex={0}>
      <table class="table compared">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {hasService && <th scope="col">Service</th>}
            <th scope="col" class="number">
              {truncate(before, 40)}
            </th>
            <th scope="col" class="number">
              {truncate(after, 40)}
            </th>
            <th scope="col" class="number">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.service} ${row.name}`} class={row.verdict}>
              <th scope="row">{truncate(row.name, 120)}</th>
              {hasService && <Services services={row.service ? [row.service] : []} />}
              <td class="number">{row.before}</td>
              <td class="number">{row.after}</td>
              <td class="number difference">
                {row.change} {SIGNS[row.verdict]}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function Groups({
  title,
  groups,
  none,
}: {
  readonly title: string
  readonly groups: readonly ErrorGroup[]
  readonly none: string
}) {
  const view = useView()
  return (
    <section class="compared-groups" aria-label={title}>
      <h3>
        {title} <span class="count">{formatCount(groups.length)}</span>
      </h3>
      {groups.length === 0 ? (
        <p class="muted">{none}</p>
      ) : (
        <Many items={groups} step={8} noun="groups">
          {(shown) => (
            <ul>
              {shown.map((group) => (
                <li key={group.fingerprint}>
                  <LevelBadge level={group.level} />{' '}
                  <a class="group-link" href={createHref({ ...view, entry: group.newest })} {...LINE}>
                    <b>{truncate(group.type ?? 'No error type', 80)}</b> {truncate(group.message, 160)}
                  </a>{' '}
                  <span class="muted">{formatPlural(group.count, 'entry', 'entries')}</span>
                </li>
              ))}
            </ul>
          )}
        </Many>
      )}
    </section>
  )
}
