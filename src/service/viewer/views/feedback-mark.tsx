/** Marks an error, a trace, a span or an entry on which users commented. */
import { Icon } from '../icons.js'
import { formatPlural } from '../view-format.js'

interface FeedbackMarkProps {
  readonly count?: number | undefined
  /** Shows the number only, where there is little space. */
  readonly isShort?: boolean
}

export function FeedbackMark({ count = 0, isShort = false }: FeedbackMarkProps) {
  if (count === 0) return null
  const text = formatPlural(count, 'entry with a comment', 'entries with comments')
  return (
    <span class="mark-feedback" title={text}>
      <Icon name="feedback" /> <span class={isShort ? 'visually-hidden' : ''}>{text}</span>
    </span>
  )
}
