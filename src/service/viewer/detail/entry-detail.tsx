/** The side panel with all details of one entry. */
import { useEffect, useMemo, useRef } from 'preact/hooks'
import type { LogEntry } from '../../../protocol/log-entry.js'
import type { EntryWithFeedback } from '../../query/api-types.js'
import type { StoredFeedback } from '../../store/stored-record.js'
import { ApiError } from '../api.js'
import { useChanges } from '../changes.js'
import { Empty, Problem } from '../components.js'
import { useQuery } from '../use-query.js'
import { toPlainJson } from '../plain-text.js'
import { createHref } from '../view.js'
import { formatBytes, formatFullTime } from '../view-format.js'
import { Breadcrumbs } from './breadcrumbs-view.js'
import { EntriesLink } from './entries-link.js'
import { listErrorParts } from './error-parts.js'
import { isFilterable, listFacts } from './fact.js'
import type { Fact } from './fact.js'
import { Head } from './head.js'
import { Copy } from './notice.js'
import { Related } from './related-view.js'
import { Section } from './section.js'
import { LongText, Many } from './show-more.js'
import { ErrorPart } from './stack-view.js'
import { Tree } from './tree-view.js'
import { ValueMenu } from './value-menu.js'

export function EntryDetail({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { data, error } = useQuery<EntryWithFeedback>(`entries/${encodeURIComponent(id)}`, {}, useChanges('feedback'))
  const panel = useRef<HTMLElement>(null)
  useEffect(() => {
    panel.current?.scrollIntoView({ block: 'start' })
  }, [id])
  return (
    <aside class="detail" aria-label="Entry" ref={panel}>
      {error !== undefined ? (
        <Missing error={error} onClose={onClose} />
      ) : data === undefined ? (
        <p class="hint empty">Loading …</p>
      ) : (
        <Whole key={data.id} stored={data} onClose={onClose} />
      )}
    </aside>
  )
}

function Missing({ error, onClose }: { readonly error: Error; readonly onClose: () => void }) {
  const isGone = error instanceof ApiError && error.status === 404
  return (
    <>
      <div class="detail-bar toolbar">
        <button type="button" class="button small" onClick={onClose}>
          Close
        </button>
      </div>
      {isGone ? (
        <Empty title="This entry is not stored">
          <p>
            It was deleted by a limit or a reset of the service. <a href={createHref({})}>Show the newest entries</a>
          </p>
        </Empty>
      ) : (
        <Problem error={error} />
      )}
    </>
  )
}

function Whole({ stored, onClose }: { readonly stored: EntryWithFeedback; readonly onClose: () => void }) {
  const { entry, feedback } = stored
  const { breadcrumbs = [], trace } = entry
  const { Request, User, Performance, Context } = listFacts(entry, stored.fingerprint)
  const { metadata, properties } = listErrorParts(entry)
  const memberCount = Object.keys(metadata).length
  return (
    <>
      <Head stored={stored} onClose={onClose} />
      {entry.error !== undefined && ((entry.error.stack ?? '') !== '' || properties.length > 0) && (
        <Section title="Error">
          <ErrorPart error={entry.error} id={stored.id} properties={properties} />
        </Section>
      )}
      {feedback.length > 0 && (
        <Section title="Feedback" hint={String(feedback.length)}>
          <FeedbackList items={feedback} />
        </Section>
      )}
      {breadcrumbs.length > 0 && (
        <Section title="Breadcrumbs" hint={String(breadcrumbs.length)}>
          <Breadcrumbs breadcrumbs={breadcrumbs} entry={entry} />
        </Section>
      )}
      {trace?.trace_id !== undefined ? (
        <Section title="Trace" actions={<ValueMenu name="Trace id" field="trace_id" value={trace.trace_id} />}>
          <Related entry={stored} by="trace_id" value={trace.trace_id} />
        </Section>
      ) : (
        entry.request_id !== undefined && (
          <Section
            title="Same request"
            actions={<ValueMenu name="Request id" field="request_id" value={entry.request_id} />}
          >
            <Related entry={stored} by="request_id" value={entry.request_id} />
          </Section>
        )
      )}
      <Facts title="Request" facts={Request} />
      <Facts title="User" facts={User} />
      {memberCount > 0 && (
        <Section title="Metadata" hint={String(memberCount)}>
          <Tree value={metadata} label="Metadata" />
        </Section>
      )}
      <Facts title="Performance" facts={Performance} />
      <Facts title="Context" facts={Context} />
      <Section title="Raw JSON" isOpen={false}>
        <Raw entry={entry} />
      </Section>
      <p class="hint detail-foot">
        {stored.id} · received {stored.received_at}
        {stored.batch_id !== null && ` · batch ${stored.batch_id.slice(0, 100)}`}
      </p>
    </>
  )
}

function Facts({ title, facts }: { readonly title: string; readonly facts: readonly Fact[] | undefined }) {
  if (facts === undefined || facts.length === 0) return null
  return (
    <Section title={title}>
      <dl>
        {facts.map(({ name, value, text = String(value), field }) => (
          <div key={name} class="fact">
            <dt>{name}</dt>
            <dd>
              {field === 'fingerprint' && isFilterable(value) ? (
                <EntriesLink class="text" name={field} value={text} title="All entries of this group" isId>
                  {text}
                </EntriesLink>
              ) : (
                <LongText text={text} maxChars={400} maxLines={6} />
              )}
              <ValueMenu name={name} field={field} value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </Section>
  )
}

function FeedbackList({ items }: { readonly items: readonly StoredFeedback[] }) {
  return (
    <Many items={items} step={10} noun="comments">
      {(shown) => (
        <ul>
          {shown.map(({ id, received_at: at, feedback: { comments, name, email } }) => (
            <li key={id}>
              <LongText class="comment" text={comments} />
              <p class="hint">
                {[name, email].map((one) => one !== undefined && `${one.slice(0, 200)} · `)}
                <time dateTime={at}>{formatFullTime(at)}</time>
              </p>
            </li>
          ))}
        </ul>
      )}
    </Many>
  )
}

/** Maximum number of characters to show: the layout of a longer element takes too long. */
const MAX_SHOWN_CHARS = 200_000

function Raw({ entry }: { readonly entry: LogEntry }) {
  const text = useMemo(() => JSON.stringify(entry, null, 2), [entry])
  return (
    <div class="raw">
      <div class="toolbar">
        <Copy label="Copy" name="Copy the raw JSON" text={() => text} />
        <span class="hint">{formatBytes(new Blob([text]).size)}</span>
      </div>
      {text.length > MAX_SHOWN_CHARS ? (
        <p class="hint">Too long to show. Copy it.</p>
      ) : (
        <pre class="code" tabIndex={0} aria-label="Raw JSON">
          {toPlainJson(text)}
        </pre>
      )}
    </div>
  )
}
