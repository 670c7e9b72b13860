/** The view "releases": two versions or two runs compared, and the registered releases. */
import type { ComparedGroup, ReleaseComparison, VersionSummary } from '../../query/api-types.js'
import { addTerm } from '../../query/language/index.js'
import type { StoredRelease } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { Ago, Empty } from '../components.js'
import { Copy } from '../detail/notice.js'
import { LongText, Many } from '../detail/show-more.js'
import { truncate } from '../detail/tree.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useQuery } from '../use-query.js'
import { useRuns } from '../use-runs.js'
import { navigate, useView } from '../use-view.js'
import { formatCount } from '../view-format.js'
import { createHref } from '../view.js'
import { compareRoutes, compareSides, findNewest, findPredecessor, listSides } from './comparison.js'
import type { ComparisonRow } from './comparison.js'
import { ErrorLink } from './errors-view.js'
import { ListPage, Loaded, Snippet, StartHint, useList } from './list-page.js'
import { RecordTable, Services } from './record-table.js'
import type { Column } from './record-table.js'
import { ViewFilter } from './view-filter.js'

const REGISTER = `import pino from 'pino'
import { ingestOptions, registerRelease } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout' }))
// Later records have its id.
await registerRelease({ version: '1.4.0', logger })`

const RELEASE_COLUMNS: readonly Column<StoredRelease>[] = [
  { name: 'Registered release', cell: ({ release }) => <b>{truncate(release.version, 100)}</b> },
  { name: 'Registered', cell: ({ received_at: at }) => <Ago at={at} /> },
  { name: 'Commit', cell: ({ release }) => release.commit_hash && <code>{release.commit_hash.slice(0, 10)}</code> },
  { name: 'Branch', cell: ({ release }) => release.branch && <code>{truncate(release.branch, 100)}</code> },
  { name: 'By', cell: ({ release }) => truncate(release.deployed_by ?? '', 100) },
]

export function ReleasesView() {
  const list = useList<StoredRelease>('releases', {}, useChanges('release'))
  return (
    <ListPage
      filter={<Comparison />}
      list={list}
      empty={
        <Empty title="No release registered yet">
          <p>Register a release when your application starts, to see its commit and changes here:</p>
          <Snippet code={REGISTER} />
          <p>Or in a deployment:</p>
          <Snippet code="export PINO_INGEST_RELEASE_ID=$(npx pino-ingest release)" />
          <StartHint />
        </Empty>
      }
    >
      {(items) => (
        <RecordTable
          label="Registered releases"
          // Several services and processes register one release; the newest registration has its facts.
          items={items.filter((one, at) => items.findIndex(({ release_id: id }) => id === one.release_id) === at)}
          columns={RELEASE_COLUMNS}
          keyOf={({ release_id: id }) => id}
          detail={(stored) => <Release stored={stored} />}
        />
      )}
    </ListPage>
  )
}

function Release({ stored: { release_id: id, release } }: { readonly stored: StoredRelease }) {
  return (
    <>
      <p>
        <a href={createHref({ q: addTerm('', 'release_id', id) })}>Entries of this release</a>{' '}
        <span class="muted">
          id <code>{truncate(id, 60)}</code>
          {release.commit_hash !== undefined && (
            <>
              , commit <code>{truncate(release.commit_hash, 200)}</code>{' '}
              <Copy label="copy" name="Copy the commit" text={() => release.commit_hash ?? ''} />
            </>
          )}
        </span>
      </p>
      <LongText text={release.changelog ?? ''} maxLines={60} maxChars={8_000} />
    </>
  )
}

/** The comparison with its filter. Default: the newest version that followed another one of its service, else the newest run that followed another of its service. */
function Comparison() {
  const view = useView()
  const version = useChanges('entry', 'request')
  const filters = useFilterParameters(view)
  const versions = useQuery<{ readonly items: readonly VersionSummary[] }>('versions', {}, version)
  const sides = listSides(versions.data?.items ?? [], useRuns())
  const after = view.after ?? findNewest(sides)?.query ?? null
  const before = view.before ?? findPredecessor(sides, after)?.query ?? null
  const comparison = useQuery<ReleaseComparison>(
    before === null || after === null ? null : 'release-comparison',
    { ...filters, before: before ?? '', after: after ?? '' },
    version,
  )
  const nameOf = (query: string): string => sides.find((side) => side.query === query)?.text ?? query
  const choose = (side: 'before' | 'after', query: string, label: string) => (
    <label>
      {label}{' '}
      <select
        class="select"
        value={query}
        onChange={({ currentTarget: { value } }) => {
          const predecessor = findPredecessor(sides, value)?.query ?? before
          navigate({ before: predecessor, after, [side]: value }, { replace: true })
        }}
      >
        {[...new Set([...sides.map((one) => one.query), query])].map((one) => (
          <option key={one} value={one}>
            {truncate(nameOf(one), 80)}
          </option>
        ))}
      </select>
    </label>
  )
  return (
    <>
      <ViewFilter kind="entries" error={versions.error ?? comparison.error} />
      {before === null || after === null ? (
        versions.data !== undefined && (
          <p class="note">Entries of two versions, or of two runs, of a service are needed to compare them.</p>
        )
      ) : (
        <section class="comparison" aria-label="Comparison">
          <p class="sides">
            {choose('before', before, 'Before')}
            {choose('after', after, 'After')}
          </p>
          <Loaded query={comparison}>
            {(data) => <Compared data={data} before={nameOf(before)} after={nameOf(after)} />}
          </Loaded>
        </section>
      )}
    </>
  )
}

interface ComparedProps {
  readonly data: ReleaseComparison
  readonly before: string
  readonly after: string
}

const CHANGES: Readonly<Record<ComparedGroup['change'], string>> = { increased: 'increased', new: 'new', gone: 'gone' }
const SIGNS = { worse: '▲ worse', better: '▼ better', same: '' } as const

function Compared({ data, before, after }: ComparedProps) {
  const columns = (name: string, more: readonly Column<ComparisonRow>[] = []): readonly Column<ComparisonRow>[] => [
    { name, cell: (row) => truncate(row.name, 120) },
    ...more,
    { name: truncate(before, 40), isNumber: true, cell: (row) => row.before },
    // Column names are keys, and both sides can have the same name.
    { name: `${truncate(after, 40)} `, isNumber: true, cell: (row) => row.after },
    { name: 'Difference', isNumber: true, cell: (row) => `${row.change} ${SIGNS[row.verdict]}`.trim() },
  ]
  const service: Column<ComparisonRow> = {
    name: 'Service',
    cell: (row) => <Services services={row.service ? [row.service] : []} />,
  }
  const groups: readonly Column<ComparedGroup>[] = [
    { name: 'Error', cell: (group) => <ErrorLink group={group} /> },
    { name: 'Change', cell: ({ change }) => <b class={change === 'gone' ? 'good' : 'bad'}>{CHANGES[change]}</b> },
    { name: 'Before', isNumber: true, cell: (group) => formatCount(group.before) },
    { name: 'After', isNumber: true, cell: (group) => formatCount(group.after) },
  ]
  return (
    <>
      <RecordTable
        label="Overall"
        items={compareSides(data.before, data.after)}
        columns={columns('Overall')}
        keyOf={({ name }) => name}
        rowClass={({ verdict }) => verdict}
      />
      {data.groups.length === 0 ? (
        <p class="note">No error increased, is new or is gone.</p>
      ) : (
        <Many items={data.groups} step={10} noun="errors">
          {(shown) => (
            <RecordTable
              label="Errors that changed"
              items={shown}
              columns={groups}
              keyOf={({ fingerprint }) => fingerprint}
            />
          )}
        </Many>
      )}
      {data.routes.length > 0 && (
        <Many items={compareRoutes(data.routes)} step={15} noun="routes">
          {(shown) => (
            <RecordTable
              label="Routes"
              items={shown}
              columns={columns('p95 by route', [service])}
              keyOf={({ name, service: of }) => `${of} ${name}`}
              rowClass={({ verdict }) => verdict}
            />
          )}
        </Many>
      )}
    </>
  )
}
