/** The search: the text becomes the filter after a pause in typing. */
import type { Ref } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Icon } from '../icons.js'
import { currentView, navigate } from '../use-view.js'
import { withFilter } from '../view.js'
import type { Filters } from '../view.js'

const PAUSE_MS = 200

export function SearchBox({ filters, input }: { filters: Filters; input: Ref<HTMLInputElement> }) {
  const [text, setText] = useState(filters.q ?? '')
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  // The last requested text: an address that changes later does not overwrite newer input.
  const asked = useRef(filters.q ?? '')
  useEffect(() => {
    if ((filters.q ?? '') === asked.current) return
    asked.current = filters.q ?? ''
    setText(asked.current)
  }, [filters.q])
  useEffect(() => () => clearTimeout(timer.current), [])

  const search = (q: string): void => {
    clearTimeout(timer.current)
    const view = currentView()
    const isFirst = (view.filters.q ?? '') === ''
    asked.current = q
    // Back leaves the search instead of undoing its last letter.
    navigate({ filters: withFilter(view.filters, 'q', q) }, { replace: !isFirst })
  }
  const onInput = (event: Event): void => {
    const typed = (event.currentTarget as HTMLInputElement).value
    setText(typed)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => search(typed), PAUSE_MS)
  }
  return (
    <label class="search">
      <span class="visually-hidden">Search in message, error and metadata</span>
      <Icon name="search" />
      <input
        ref={input}
        class="field"
        type="text"
        inputMode="search"
        placeholder="Search message, error, metadata"
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={onInput}
        onKeyDown={(event) => event.key === 'Enter' && search(text)}
      />
      {text === '' ? (
        <kbd aria-hidden="true">/</kbd>
      ) : (
        <button
          type="button"
          class="button plain icon small"
          aria-label="Clear the search"
          onClick={() => {
            setText('')
            search('')
          }}
        >
          <Icon name="close" />
        </button>
      )}
    </label>
  )
}
