/** The view "releases": registered releases with errors before and after, and a comparison of versions. */
import type { ReleaseHealth } from '../../query/api-types.js'
import { useChanges } from '../changes.js'
import { LongText } from '../detail/show-more.js'
import { Copy } from '../detail/copy.js'
import { Fold } from '../detail/section.js'
import { truncate } from '../detail/tree.js'
import { formatFullTime, formatPercent, formatPlural } from '../view-format.js'
import { Empty } from '../components.js'
import { addTerm } from '../../query/language/index.js'
import { createHref } from '../view.js'
import { Ago } from './ago.js'
import { ListPage } from './list-page.js'
import { computeChange } from './release-change.js'
import type { Change } from './release-change.js'
import { Snippet, StartHint } from './snippet.js'
import { useList } from './use-list.js'
import { LINE } from './use-list-keys.js'
import { VersionComparison } from './version-comparison-view.js'

const REGISTER = `import pino from 'pino'
import { ingestOptions, registerRelease } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout' }))
// Later records have its id.
await registerRelease({ version: '1.4.0', logger })`

/** Several services register one release within this time. */
const AGAIN_MS = 3_600_000

export function ReleasesView() {
  const list = useList<ReleaseHealth>('release-health', {}, useChanges('release', 'entry'))
  return (
    <ListPage
      title="Releases"
      about="Errors before and after each registration, in windows of the same length."
      filter={<VersionComparison />}
      list={list}
      empty={
        <Empty title="No release registered yet">
          <p>Register a release when your application starts, and compare the errors before and after:</p>
          <Snippet code={REGISTER} />
          <p>Or in a deployment:</p>
          <Snippet code="export PINO_INGEST_RELEASE_ID=$(npx pino-ingest release)" />
          <StartHint />
        </Empty>
      }
    >
      {(releases) => (
        <ul class="cards" aria-label="Registered releases">
          {releases.map((one) => (
            <Release key={one.release_id} health={one} />
          ))}
        </ul>
      )}
    </ListPage>
  )
}

function Release({ health }: { readonly health: ReleaseHealth }) {
  const { release, linked } = health
  const change = computeChange(health)
  const entries = createHref({ name: 'entries', q: addTerm('', 'release_id', health.release_id) })
  const errors = createHref({ name: 'errors', q: addTerm('', 'release_id', health.release_id) })
  return (
    <li class="card release">
      <div class="release-head">
        <h2>{truncate(release.version, 100)}</h2>
        <span class="muted">
          <Ago at={health.registered_at} />
        </span>
        <span class="time">{formatFullTime(health.registered_at)}</span>
        {Date.parse(health.last_registered_at) - Date.parse(health.registered_at) > AGAIN_MS && (
          <span class="muted">
            again <Ago at={health.last_registered_at} />
          </span>
        )}
      </div>
      <p class="release-facts">
        {release.commit_hash !== undefined && (
          <span>
            commit <code title={truncate(release.commit_hash, 200)}>{release.commit_hash.slice(0, 10)}</code>{' '}
            <Copy label="copy" name="Copy the commit" text={() => release.commit_hash ?? ''} />
          </span>
        )}
        {release.branch !== undefined && (
          <span>
            branch <code>{truncate(release.branch, 100)}</code>
          </span>
        )}
        {release.deployed_by !== undefined && <span>by {truncate(release.deployed_by, 100)}</span>}
        <span>
          id <code>{truncate(health.release_id, 60)}</code>
        </span>
      </p>
      <Comparison change={change} />
      <p class="release-links">
        {linked.entries === 0 ? (
          <span class="muted">No entry has its id yet.</span>
        ) : (
          <>
            <a href={entries} {...LINE}>
              {formatPlural(linked.entries, 'entry', 'entries')} of this release
            </a>
            {linked.errors > 0 && <a href={errors}>{formatPlural(linked.errors, 'error')}</a>}
          </>
        )}
      </p>
      {release.changelog !== undefined && release.changelog !== '' && (
        <Fold summary="Changelog">
          {() => <LongText class="changelog" text={release.changelog ?? ''} maxLines={60} maxChars={8_000} />}
        </Fold>
      )}
    </li>
  )
}

function Comparison({ change: { text, verdict, before, after, shares } }: { readonly change: Change }) {
  return (
    <div class={`comparison ${verdict}`}>
      <p>
        <b>{text}</b>
      </p>
      {shares !== null && (
        <p class="muted">
          {formatPercent(shares.before)} before ({before}), {formatPercent(shares.after)} after ({after})
        </p>
      )}
    </div>
  )
}
