/** The view "feedback": user comments with their entries. */
import type { StoredEntry, StoredFeedback } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { LongText } from '../detail/show-more.js'
import { truncate } from '../detail/tree.js'
import { Empty, LevelBadge } from '../components.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'
import { createHref } from '../view.js'
import { Ago } from './ago.js'
import { ListPage } from './list-page.js'
import { Snippet, StartHint } from './snippet.js'
import { UnusedFilter } from './unused-filter.js'
import { useList } from './use-list.js'
import { LINE } from './use-list-keys.js'

const SEND = `import pino from 'pino'
import { captureError, ingestOptions, sendFeedback } from 'pino-ingest'

const logger = pino(ingestOptions({ service: 'checkout' }))
const eventId = captureError(logger, new Error('card declined')) // show it on the error page
await sendFeedback({ event_id: eventId, comments: 'I clicked twice', email: 'jane@example.com' })`

export function FeedbackView() {
  const list = useList<StoredFeedback>('feedback', {}, useChanges('feedback'))
  return (
    <ListPage
      title="Feedback"
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
        <ul class="cards">
          {items.map((one) => (
            <Comment key={one.id} stored={one} />
          ))}
        </ul>
      )}
    </ListPage>
  )
}

function Comment({ stored: { received_at: at, feedback } }: { readonly stored: StoredFeedback }) {
  const { comments, name, email, event_id: eventId } = feedback
  return (
    <li class="card comment-card">
      <LongText class="comment" text={comments} />
      <p class="comment-by">
        <b>{name === undefined || name === '' ? 'Anonymous' : truncate(name, 100)}</b>
        {email !== undefined && <span>{truncate(email, 200)}</span>}
        <span class="muted">
          <Ago at={at} />
        </span>
      </p>
      <Target eventId={eventId} />
    </li>
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
  if (data === undefined && error === undefined) return <p class="comment-target muted">Looking for its entry …</p>
  if (data === undefined) {
    return (
      <p class="comment-target muted">
        About <code>{truncate(eventId, 80)}</code>, whose entry is not stored.{' '}
        {eventId !== '' && eventId.length <= 200 && (
          <a href={createHref({ q: JSON.stringify(eventId) })}>Search for it</a>
        )}
      </p>
    )
  }
  return (
    <p class="comment-target">
      <LevelBadge level={data.entry.level} />{' '}
      <a href={createHref({ ...view, entry: data.id })} {...LINE}>
        {truncate(data.entry.message, 160)}
      </a>
    </p>
  )
}
