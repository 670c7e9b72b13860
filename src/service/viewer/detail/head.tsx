/** The top of the panel: level, origin, message, time, ids and buttons. */
import { createRequestQuery } from '../../query/language/index.js'
import type { StoredEntry } from '../../store/stored-record.js'
import { findRunId } from '../../store/runs.js'
import { Ago, LevelBadge } from '../components.js'
import { LOGGER_MESSAGES } from '../row-text.js'
import { useCommands } from '../commands.js'
import { useView } from '../use-view.js'
import { changeView, createHref } from '../view.js'
import { findLocalOffset, formatFullTime, formatZone } from '../view-format.js'
import { EntriesLink } from './entries-link.js'
import { copyWithNotice } from './notice.js'
import { LongText, Many } from './show-more.js'
import { truncate } from './tree.js'
import { ValueMenu } from './value-menu.js'

export function Head({ stored, onClose }: { readonly stored: StoredEntry; readonly onClose: () => void }) {
  const { id, entry } = stored
  const view = useView()
  const copyJson = (): void => copyWithNotice(JSON.stringify(entry, null, 2), 'the entry as JSON')
  // Without the token: the address is meant to be shared.
  const copyAddress = (): void => copyWithNotice(location.origin + createHref({ ...view, entry: id }), 'the address')
  useCommands({ 'copy-json': copyJson, 'copy-address': copyAddress })
  return (
    <>
      <div class="detail-bar toolbar">
        <LevelBadge level={entry.level} />
        <a
          class="button small"
          href={createHref({ ...changeView(view, { name: 'entries', around: id }), entry: id })}
          title="All entries around this one in time, unfiltered"
        >
          Show in context
        </a>
        <button type="button" class="button small" title="Copy the entry as JSON (c)" onClick={copyJson}>
          Copy JSON
        </button>
        <button type="button" class="button small" title="Copy the address of this page (l)" onClick={copyAddress}>
          Copy address
        </button>
        <button
          type="button"
          class="button small icon"
          aria-label="Close the detail"
          title="Close (Esc)"
          onClick={onClose}
        >
          ✕
        </button>
      </div>
      <div class="detail-head">
        <div class="detail-title">
          <Title entry={entry} />
          {entry.error?.message ? (
            <ValueMenu name="Error message" field="error.message" value={entry.error.message} />
          ) : (
            <ValueMenu name="Message" field="message" value={entry.message} />
          )}
        </div>
        <p class="muted">
          {formatFullTime(entry.timestamp)} {formatZone(findLocalOffset(entry.timestamp))} ·{' '}
          <Ago at={entry.timestamp} />
        </p>
        <Chips stored={stored} />
      </div>
    </>
  )
}

/** An error's type and message come before the entry's message, which is often the same for all errors. */
function Title({ entry: { message, error } }: Pick<StoredEntry, 'entry'>) {
  const failure = [error?.type, error?.message].filter((part) => part !== undefined && part !== '').join(': ')
  const isSaid = message === failure || message === error?.message || LOGGER_MESSAGES.includes(message)
  return (
    <h2>
      {failure !== '' && <LongText class="error-title" text={failure} maxChars={600} maxLines={6} />}
      {(failure === '' || !isSaid) && <LongText text={message || '(no message)'} maxChars={400} maxLines={6} />}
    </h2>
  )
}

/** One click each to the entries of the same user and request, and to the trace; menus of the other values. */
function Chips({ stored: { id, entry } }: { readonly stored: StoredEntry }) {
  const { service, version, environment, error, request_id: request, trace, tags = [] } = entry
  const user = entry.user_id ?? entry.user?.id
  const traceId = trace?.trace_id === '' ? undefined : trace?.trace_id
  const ofRequest = createRequestQuery({ trace_id: traceId, run: findRunId(entry), service, request_id: request })
  const values = [
    ['Service', 'service', service],
    ['Version', 'version', version],
    ['Environment', 'environment', environment],
    ['Error type', 'error.type', error?.type],
  ] as const
  return (
    <ul class="chip-row" aria-label="Origin and ids">
      {values.map(
        ([name, field, value]) =>
          value !== undefined &&
          value !== '' && (
            <li key={name}>
              <ValueMenu class="chip" name={name} field={field} value={value}>
                {truncate(value, 60)}
              </ValueMenu>
            </li>
          ),
      )}
      {user !== undefined && (
        <li>
          <EntriesLink class="chip" name="user" value={user} title="All entries of this user" isId>
            user {truncate(user, 40)}
          </EntriesLink>
        </li>
      )}
      {request !== undefined && ofRequest !== null && (
        <li>
          <a
            class="chip"
            data-filter="replaced"
            href={createHref({ name: 'entries', q: ofRequest, entry: id })}
            title={`All entries of this ${traceId === undefined ? 'request' : 'trace'}. Replaces the filter`}
          >
            request {truncate(request, 40)}
          </a>
        </li>
      )}
      {traceId !== undefined && (
        <li>
          <a class="chip" href={createHref({ name: 'traces', trace: traceId, entry: id })} title="The trace's timeline">
            trace {truncate(traceId, 40)}
          </a>
        </li>
      )}
      <Many items={tags} step={30} noun="tags">
        {(shown) =>
          shown.map((tag, index) => (
            <li key={index}>
              <ValueMenu class="chip" name={tag} field="tag" value={tag}>
                {truncate(tag, 60)}
              </ValueMenu>
            </li>
          ))
        }
      </Many>
    </ul>
  )
}
