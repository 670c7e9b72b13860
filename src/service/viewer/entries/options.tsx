/** A multi-select list with a filter field (WAI-ARIA combobox with a listbox). */
import { useState } from 'preact/hooks'
import { formatShortCount } from '../view-format.js'
import { Icon } from '../icons.js'

export interface Option {
  readonly value: string
  readonly count?: number
  readonly state: 'none' | 'chosen' | 'excluded'
}

interface OptionsProps {
  /** Element id, unique in the page. */
  readonly id: string
  readonly title: string
  readonly options: readonly Option[]
  readonly hasMore: boolean
  /** Text to show if there are no options. */
  readonly empty: string
  /** Whether typed text can be selected that is not an option. */
  readonly isFree: boolean
  readonly onInput: (text: string) => void
  readonly onChoose: (value: string) => void
  readonly onLeave: () => void
}

const intoView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })

export function Options({ id, title, options, hasMore, empty, isFree, onInput, onChoose, onLeave }: OptionsProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const typed = text.trim()
  const isNew = isFree && typed !== '' && !options.some(({ value }) => value === typed)
  const shown: readonly (Option & { readonly isNew?: boolean })[] = isNew
    ? [...options, { value: typed, state: 'none', isNew: true }]
    : options
  const active = Math.min(at, shown.length - 1)
  const choose = (index: number): void => {
    const option = shown[index]
    if (option !== undefined) onChoose(option.value)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(active + 1, shown.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(active - 1, 0))
    else if (event.key === 'Enter') choose(active)
    else if (event.key === 'Tab') {
      onLeave()
      // The focus is on the button; without Shift, the browser moves it on.
      if (!event.shiftKey) return
    } else return
    event.preventDefault()
  }
  return (
    <>
      <input
        class="field"
        type="text"
        role="combobox"
        aria-label={isFree ? `${title}: find or type a value` : `${title}: find`}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={id}
        aria-activedescendant={shown.length === 0 ? undefined : `${id}-${active}`}
        placeholder={isFree ? 'Find or type' : 'Find'}
        autocomplete="off"
        spellcheck={false}
        value={text}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          const value = (event.currentTarget as HTMLInputElement).value
          setText(value)
          setAt(0)
          onInput(value.trim())
        }}
      />
      <ul id={id} role="listbox" aria-label={title} aria-multiselectable="true">
        {shown.map(({ value, count, state, isNew: isTyped }, index) => (
          <li
            key={value}
            id={`${id}-${index}`}
            role="option"
            aria-selected={state === 'chosen'}
            class={index === active ? 'active' : undefined}
            ref={index === active ? intoView : null}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(index)}
          >
            <span class={`check ${state}`}>
              {state !== 'none' && <Icon name={state === 'chosen' ? 'check' : 'exclude'} />}
            </span>
            <span class="cut option-value">
              {state === 'excluded' && 'not '}
              {isTyped === true ? (
                <>
                  Exactly <b>{value}</b>
                </>
              ) : (
                value
              )}
            </span>
            {count !== undefined && <span class="count">{formatShortCount(count)}</span>}
          </li>
        ))}
      </ul>
      {shown.length === 0 && <p class="faint">{empty}</p>}
      {hasMore && <p class="faint">There are more: type part of the name.</p>}
    </>
  )
}
