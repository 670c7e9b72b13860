/** Lists and texts that show a part first, because logged values can be huge. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formatBytes, formatCount } from '../view-format.js'
import { Copy } from './copy.js'
import { foldText } from './fold-text.js'

interface ManyProps<T> {
  readonly items: readonly T[]
  readonly step: number
  /** Plural noun for the items: `frames`. */
  readonly noun: string
  readonly children: (items: readonly T[]) => ComponentChildren
}

/** Shows the first `step` items, and `step` more per press. */
export function Many<T>({ items, step, noun, children }: ManyProps<T>) {
  const [shown, setShown] = useState(step)
  const rest = items.length - shown
  return (
    <>
      {children(items.length > shown ? items.slice(0, shown) : items)}
      {rest > 0 && <MoreButton rest={rest} step={step} noun={noun} onMore={() => setShown(shown + step)} />}
    </>
  )
}

export function MoreButton({
  rest,
  step,
  noun,
  onMore,
}: {
  readonly rest: number
  readonly step: number
  readonly noun: string
  readonly onMore: () => void
}) {
  const text =
    rest <= step
      ? `Show ${formatCount(rest)} more ${noun}`
      : `Show ${formatCount(step)} of ${formatCount(rest)} more ${noun}`
  return (
    <button type="button" class="more" onClick={onMore}>
      {text}
    </button>
  )
}

interface LongTextProps {
  readonly text: string
  readonly class?: string
  /** Number of characters to show before the button is pressed. */
  readonly maxChars?: number
  readonly maxLines?: number
}

/** Maximum number of characters to show: the layout of a megabyte in one element takes seconds. */
const MAX_SHOWN_CHARS = 50_000

/** A long text that wraps and keeps its line breaks. */
export function LongText({ text, class: className, maxChars = 1_500, maxLines = 20 }: LongTextProps) {
  const [isWhole, setWhole] = useState(false)
  const folded = isWhole ? foldText(text, MAX_SHOWN_CHARS, Infinity) : foldText(text, maxChars, maxLines)
  return (
    <span class={`text ${className ?? ''}`}>
      <span>{folded.text}</span>
      {folded.isCut && '…'}
      {folded.isCut && isWhole && (
        <span class="hint">
          {' '}
          The first {formatCount(folded.text.length)} of {formatCount(text.length)} characters.{' '}
          <Copy label="Copy all of it" text={() => text} />
        </span>
      )}
      {folded.isCut && !isWhole && (
        <button type="button" class="more" onClick={() => setWhole(true)}>
          Show all ({formatBytes(text.length)})
        </button>
      )}
    </span>
  )
}
