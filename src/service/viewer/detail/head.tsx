/** The top of the panel: level, message, time, origin and buttons. */
import type { StoredEntry } from '../../store/stored-record.js'
import { formatAgo, findUtcOffset, formatFullTime, findLocalOffset, formatZone } from '../view-format.js'
import { LevelBadge } from '../components.js'
import { useNow } from '../use-now.js'
import { useView } from '../use-view.js'
import { changeView, createHref } from '../view.js'
import { LongText } from './show-more.js'
import { EntriesLink } from './entries-link.js'
import { copyEntryJson, copyEntryLink, copyRequestCurl } from './entry-copies.js'
import { truncate } from './tree.js'
import { ValueMenu } from './value-menu.js'

export function Head({ stored, onClose }: { readonly stored: StoredEntry; readonly onClose: () => void }) {
  const { entry } = stored
  const view = useView()
  const nowMs = useNow()
  const zone = formatZone(findUtcOffset(entry.timestamp))
  const localZone = formatZone(findLocalOffset(entry.timestamp))
  return (
    <header class="detail-head">
      <div class="detail-bar">
        <LevelBadge level={entry.level} />
        <Origin entry={entry} />
        <span class="detail-tools">
          <a
            class="button small"
            href={createHref({ ...changeView(view, { name: 'entries', around: stored.id }), entry: stored.id })}
            title="All entries around this one in time, unfiltered"
          >
            Show in context
          </a>
          <button
            type="button"
            class="button small"
            aria-label="Copy JSON"
            title="Copy the entry as JSON (c)"
            onClick={() => copyEntryJson(stored)}
          >
            JSON
          </button>
          {entry.request !== undefined && (
            <button
              type="button"
              class="button small"
              aria-label="Copy as curl"
              title="Copy the request as curl (u)"
              onClick={() => copyRequestCurl(stored)}
            >
              curl
            </button>
          )}
          <button
            type="button"
            class="button small"
            aria-label="Copy link"
            title="Copy the link to this entry (l)"
            onClick={() => copyEntryLink(stored)}
          >
            Link
          </button>
          <button
            type="button"
            class="button small"
            aria-label="Close the detail"
            title="Close (Esc)"
            onClick={onClose}
          >
            ✕
          </button>
        </span>
      </div>
      <h2 class="detail-message">
        <LongText text={entry.message} maxChars={400} maxLines={6} />
      </h2>
      <p class="detail-time">
        <span>
          <time dateTime={entry.timestamp} title={entry.timestamp}>
            {formatFullTime(entry.timestamp)}
          </time>{' '}
          <span class="hint">{localZone}</span>
        </span>
        {zone !== localZone && (
          <span class="hint">
            <span>{entry.timestamp}</span> {zone}
          </span>
        )}
        <span class="hint">{formatAgo(entry.timestamp, nowMs)}</span>
      </p>
      <Related stored={stored} />
    </header>
  )
}

/** One click each to the entries of the same user and request, and to the waterfall. */
function Related({ stored: { id, entry } }: { readonly stored: StoredEntry }) {
  const user = entry.user_id ?? entry.user?.id
  const { request_id: request, trace: { trace_id: trace } = {} } = entry
  return (
    <p class="detail-related">
      {user !== undefined && (
        <EntriesLink class="chip" name="user" value={user} title="All entries of this user" isId>
          user {truncate(user, 40)}
        </EntriesLink>
      )}
      {request !== undefined && (
        <EntriesLink class="chip" name="request_id" value={request} title="All entries of this request" isId>
          request {truncate(request, 40)}
        </EntriesLink>
      )}
      {trace !== undefined && trace !== '' && (
        <a class="chip" href={createHref({ name: 'traces', trace, entry: id })} title="The trace as a waterfall">
          trace {truncate(trace, 40)}
        </a>
      )}
    </p>
  )
}

const TITLES = { service: 'Service', version: 'Version', environment: 'Environment' } as const

/** Service, environment and version, as links to all entries with the same value. */
function Origin({ entry }: Pick<StoredEntry, 'entry'>) {
  return (
    <>
      {(['service', 'version', 'environment'] as const).map((name) => {
        const value = entry[name]
        return (
          value !== undefined && (
            <span key={name} class="origin">
              <EntriesLink class="cut" name={name} value={value} title={`All entries of this ${name}`}>
                {truncate(value, 60)}
              </EntriesLink>
              <ValueMenu name={TITLES[name]} field={name} value={value} />
            </span>
          )
        )
      })}
    </>
  )
}
