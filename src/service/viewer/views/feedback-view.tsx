/** The view "feedback": user comments with their entries. */
import type { StoredEntry, StoredFeedback } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { LongText } from '../detail/show-more.js'
import { truncate } from '../detail/tree.js'
import { Ago, Empty, LevelBadge } from '../components.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { createHref } from '../view.js'
import { ListPage, Snippet, StartHint, useList } from './list-page.js'
import { RecordTable } from './record-table.js'
import type { Column } from './record-table.js'
import { UnusedFilter } from './view-filter.js'

const SEND = `import pino from 'pino'
import { captureError, ingestOptions, sendFeedback } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout' }))
const eventId = captureError(logger, new Error('card declined')) // show it on the error page
await sendFeedback({ event_id: eventId, comments: 'I clicked twice', email: 'jane@example.com' })`

const COLUMNS: readonly Column<StoredFeedback>[] = [
  { name: 'Comment', cell: ({ feedback }) => truncate(feedback.comments, 160) },
  {
    name: 'By',
    cell: ({ feedback: { name, email } }) => truncate([name, email].filter(Boolean).join(' ') || 'Anonymous', 200),
  },
  { name: 'About', cell: ({ feedback }) => <Target eventId={feedback.event_id} /> },
  { name: 'Received', cell: ({ received_at: at }) => <Ago at={at} /> },
]

export function FeedbackView() {
  const list = useList<StoredFeedback>('feedback', {}, useChanges('feedback'))
  return (
    <ListPage
      about="User comments, newest first."
      filter={<UnusedFilter />}
      list={list}
      empty={
        <Empty title="No feedback yet">
          <p>Show the id of a captured error to the user, and send their comments:</p>
          <Snippet code={SEND} />
          <StartHint />
        </Empty>
      }
    >
      {(items) => (
        <RecordTable
          label="Comments"
          items={items}
          columns={COLUMNS}
          keyOf={({ id }) => id}
          detail={({ feedback }) => <LongText text={feedback.comments} />}
        />
      )}
    </ListPage>
  )
}

/** Maximum number of requests for the entry: feedback is sent immediately, its entry with a later batch. */
const MAX_TRIES = 5

/** The entry that the feedback refers to, by the service's id or by the application's `metadata.event_id`. */
function Target({ eventId }: { readonly eventId: string }) {
  const view = useView()
  const tries = Math.min(useChanges('entry'), MAX_TRIES)
  const { data, error } = useQuery<StoredEntry>(
    eventId === '' ? null : `entries/${encodeURIComponent(eventId)}`,
    {},
    tries,
  )
  if (data === undefined)
    return (
      <span class="muted">
        {error === undefined && eventId !== '' ? '…' : 'not stored: '}
        {eventId !== '' && <a href={createHref({ q: JSON.stringify(eventId) })}>{truncate(eventId, 80)}</a>}
      </span>
    )
  const { level, error: { type, message } = {}, message: text } = data.entry
  return (
    <>
      <LevelBadge level={level} />{' '}
      <a class="record-link" href={createHref({ ...view, entry: data.id })}>
        {type !== undefined && <b>{truncate(type, 80)} </b>}
        {truncate(message ?? text, 160)}
      </a>
    </>
  )
}
