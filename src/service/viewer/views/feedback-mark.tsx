/** Marks an error, a trace, a span or an entry on which users commented. */
import { Icon } from '../icons.js'
import { formatPlural } from '../view-format.js'

export function FeedbackMark({ count = 0 }: { readonly count?: number | undefined }) {
  if (count === 0) return null
  return (
    <span class="mark-feedback">
      <Icon name="feedback" /> {formatPlural(count, 'entry with a comment', 'entries with comments')}
    </span>
  )
}
