/** Copies texts, and reports the result in a status region: `Copied the entry as JSON`. */
import { useEffect, useRef } from 'preact/hooks'
import { Observable } from '../observable.js'
import { useObservable } from '../use-observable.js'

const SHOWN_MS = 2_500

const notice = new Observable<string>('')
let timer: ReturnType<typeof setTimeout> | undefined

export function showNotice(text: string): void {
  clearTimeout(timer)
  notice.set(text)
  timer = setTimeout(() => notice.set(''), SHOWN_MS)
}

/** @param what name of the text, for example `the entry as JSON` */
export function copyWithNotice(text: string, what: string): void {
  navigator.clipboard.writeText(text).then(
    () => showNotice(`Copied ${what}`),
    (error: unknown) =>
      showNotice(`The browser did not copy ${what}: ${error instanceof Error ? error.message : 'refused'}`),
  )
}

/** The status region. Always rendered, because screen readers announce only changes of an existing region. */
export function Notice() {
  const text = useObservable(notice)
  const element = useRef<HTMLParagraphElement>(null)
  useEffect(() => {
    // A popover is in the top layer, above the panel and its menus.
    if (text === '') element.current?.hidePopover()
    else element.current?.showPopover()
  }, [text])
  return (
    <>
      <p class="visually-hidden" role="status">
        {text}
      </p>
      <p class="notice" popover="manual" aria-hidden="true" ref={element}>
        {text}
      </p>
    </>
  )
}

interface CopyProps {
  readonly label: string
  /** Label for screen readers, if the visible one is not sufficient. */
  readonly name?: string
  readonly text: () => string
}

export function Copy({ label, name, text }: CopyProps) {
  return (
    <button type="button" class="button small" aria-label={name} onClick={() => copyWithNotice(text(), 'the text')}>
      {label}
    </button>
  )
}
