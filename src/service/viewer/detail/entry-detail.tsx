/** The side panel with all details of one entry. */
import { useEffect, useRef } from 'preact/hooks'
import type { EntryWithFeedback } from '../../query/api-types.js'
import { ApiError } from '../api.js'
import { useChanges } from '../changes.js'
import { useCommands } from '../commands.js'
import { Empty, Problem } from '../components.js'
import { useQuery } from '../use-query.js'
import { createHref } from '../view.js'
import { listContextFacts, listPerfFacts, listRequestFacts, listUserFacts } from './context.js'
import { Breadcrumbs } from './breadcrumbs-view.js'
import { copyEntryJson, copyEntryLink, copyRequestCurl } from './entry-copies.js'
import { ErrorPart } from './error-view.js'
import { Facts } from './facts.js'
import { FeedbackList } from './feedback-part.js'
import { Head } from './head.js'
import { Raw } from './raw-view.js'
import { Related } from './related-view.js'
import { ReleaseFact } from './release-fact.js'
import { Section } from './section.js'
import { Tags } from './tags.js'
import { Tree } from './tree-view.js'
import { toMetadataField } from './value-field.js'

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
        <p class="hint detail-loading">Loading …</p>
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
      <div class="detail-bar">
        <span class="detail-tools">
          <button type="button" class="button small" onClick={onClose}>
            Close
          </button>
        </span>
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
  useCommands({
    'copy-or-clear': () => copyEntryJson(stored),
    'copy-curl': () => copyRequestCurl(stored),
    'copy-link': () => copyEntryLink(stored),
  })
  const { error, breadcrumbs = [], metadata, tags = [], trace } = entry
  const request = listRequestFacts(entry)
  const user = listUserFacts(entry)
  const perf = listPerfFacts(entry)
  const context = listContextFacts(entry, stored.fingerprint)
  const memberCount = metadata === undefined ? 0 : Object.keys(metadata).length
  return (
    <>
      <Head stored={stored} onClose={onClose} />
      {tags.length > 0 && <Tags tags={tags} />}
      {error !== undefined && (
        <Section title="Error">
          <ErrorPart error={error} entry={entry} />
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
        <Section title="Trace">
          <Related entry={stored} by="trace_id" value={trace.trace_id} />
        </Section>
      ) : (
        entry.request_id !== undefined && (
          <Section title="Same request">
            <Related entry={stored} by="request_id" value={entry.request_id} />
          </Section>
        )
      )}
      {request.length > 0 && (
        <Section title="Request">
          <Facts facts={request} />
        </Section>
      )}
      {user.length > 0 && (
        <Section title="User">
          <Facts facts={user} />
        </Section>
      )}
      {memberCount > 0 && metadata !== undefined && (
        <Section title="Metadata" hint={String(memberCount)}>
          <Tree value={metadata} label="Metadata" field={toMetadataField} />
        </Section>
      )}
      {perf.length > 0 && (
        <Section title="Performance">
          <Facts facts={perf} />
        </Section>
      )}
      {context.length > 0 && (
        <Section title="Context">
          <Facts facts={context}>{entry.release_id !== undefined && <ReleaseFact id={entry.release_id} />}</Facts>
        </Section>
      )}
      <Section title="Raw JSON" isOpen={false}>
        <Raw entry={entry} id={stored.id} />
      </Section>
      <p class="hint detail-foot">
        {stored.id} · received {stored.received_at}
        {stored.batch_id !== null && ` · batch ${stored.batch_id.slice(0, 100)}`}
      </p>
    </>
  )
}
