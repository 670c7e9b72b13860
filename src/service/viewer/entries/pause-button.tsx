/** A button that pauses and resumes the list of entries. */
import { Icon } from '../icons.js'
import { formatShortCount } from '../view-format.js'

interface PauseButtonProps {
  readonly isPaused: boolean
  /** Number of entries that arrived while the list was paused. */
  readonly waiting: number
  readonly onPause: (isPaused: boolean) => void
}

export function PauseButton({ isPaused, waiting, onPause }: PauseButtonProps) {
  return (
    <button
      type="button"
      class="button pause"
      aria-pressed={isPaused}
      onClick={() => onPause(!isPaused)}
      title={isPaused ? 'Resume (p)' : 'Pause (p)'}
    >
      <Icon name={isPaused ? 'play' : 'pause'} />
      <span class="word">{isPaused ? 'Paused' : 'Pause'}</span>
      {isPaused && waiting > 0 && (
        <span class="count">
          {formatShortCount(waiting)}
          <span class="visually-hidden"> new</span>
        </span>
      )}
    </button>
  )
}
