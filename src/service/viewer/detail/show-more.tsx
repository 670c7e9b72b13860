/** Lists and texts that show a part first, because logged values can be huge. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { formatBytes, formatCount } from '../view-format.js'
import { Copy } from './notice.js'
import { cutAt, foldText } from './tree.js'

interface ManyProps<T> {
  readonly items: readonly T[]
  readonly step: number
  readonly noun: string
  readonly children: (items: readonly T[]) => ComponentChildren
}

/** Shows the first `step` items, and `step` more per press. */
export function Many<T>({ items, step, noun, children }: ManyProps<T>) {
  const [shown, setShown] = useState(step)
  return (
    <>
      {children(items.length > shown ? items.slice(0, shown) : items)}
      <MoreButton rest={items.length - shown} step={step} noun={noun} onMore={() => setShown(shown + step)} />
    </>
  )
}

interface MoreButtonProps {
  /** Number of hidden items; the button is shown if there are any. */
  readonly rest: number
  readonly step: number
  readonly noun: string
  readonly onMore: () => void
}

export function MoreButton({ rest, step, noun, onMore }: MoreButtonProps) {
  if (rest <= 0) return null
  return (
    <button type="button" class="button small more" onClick={onMore}>
      Show {formatCount(Math.min(rest, step))} {rest > step && `of ${formatCount(rest)} `}more {noun}
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
export function LongText({ text, class: className = '', maxChars = 1_500, maxLines = 20 }: LongTextProps) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? cutAt(text, MAX_SHOWN_CHARS) : foldText(text, maxChars, maxLines)
  const isCut = shown.length < text.length
  return (
    <span class={`text ${className}`}>
      <span>{shown}</span>
      {isCut && '… '}
      {isCut && isWhole && (
        <span class="hint">
          The first {formatCount(shown.length)} of {formatCount(text.length)} characters.{' '}
          <Copy label="Copy all of it" text={() => text} />
        </span>
      )}
      {isCut && !isWhole && (
        <button type="button" class="button small" onClick={() => setWhole(true)}>
          Show all ({formatBytes(text.length)})
        </button>
      )}
    </span>
  )
}
