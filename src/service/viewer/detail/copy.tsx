/** A button that copies a text. The text is created when the button is pressed. */
import { useEffect, useState } from 'preact/hooks'

const SHOWN_MS = 1_500

type Result = 'none' | 'copied' | 'failed'

const WORDS: Readonly<Record<Exclude<Result, 'none'>, string>> = { copied: 'Copied', failed: 'Not allowed' }

export function Copy({
  label,
  name,
  text,
  class: className,
}: {
  readonly label: string
  /** Label for screen readers, if the visible one is not sufficient. */
  readonly name?: string
  readonly text: () => string
  readonly class?: string
}) {
  const [result, setResult] = useState<Result>('none')
  useEffect(() => {
    if (result === 'none') return
    const timer = setTimeout(() => setResult('none'), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [result])
  const copy = () => {
    navigator.clipboard.writeText(text()).then(
      () => setResult('copied'),
      () => setResult('failed'),
    )
  }
  const shown = result === 'none' ? label : WORDS[result]
  return (
    <button type="button" class={className ?? 'quiet'} aria-label={result === 'none' ? name : shown} onClick={copy}>
      <span aria-live="polite">{shown}</span>
    </button>
  )
}
