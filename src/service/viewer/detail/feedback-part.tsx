/** User feedback on an entry. */
import type { StoredFeedback } from '../../store/stored-record.js'
import { formatFullTime } from '../view-format.js'
import { LongText, Many } from './show-more.js'

export function FeedbackList({ items }: { readonly items: readonly StoredFeedback[] }) {
  return (
    <Many items={items} step={10} noun="comments">
      {(shown) => (
        <ul class="comments">
          {shown.map(({ id, received_at: at, feedback }) => (
            <li key={id}>
              <LongText class="comment" text={feedback.comments} />
              <p class="hint">
                {[feedback.name, feedback.email]
                  .filter((one) => one !== undefined)
                  .map((one) => one.slice(0, 200))
                  .join(' · ')}{' '}
                <time dateTime={at}>{formatFullTime(at)}</time>
              </p>
            </li>
          ))}
        </ul>
      )}
    </Many>
  )
}
