/** Selects the value of a filter from those that occur, or accepts a typed one. */
import { useEffect, useRef, useState } from 'preact/hooks'
import type { FieldValues, ValueField } from '../../query/api-types.js'
import { shortCount } from '../view-format.js'
import { Icon } from '../icons.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { withFilter, withoutFilters } from '../view.js'
import type { Filters } from '../view.js'
import { FILTER_TITLES } from './filter-names.js'

export function Picker({ name, filters }: { name: ValueField; filters: Filters }) {
  const [isOpen, setOpen] = useState(false)
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const value = filters[name]
  useEffect(() => {
    if (!isOpen) return undefined
    const onPointerDown = (event: PointerEvent): void => {
      if (event.target instanceof Node && box.current?.contains(event.target) !== true) setOpen(false)
    }
    addEventListener('pointerdown', onPointerDown)
    return () => removeEventListener('pointerdown', onPointerDown)
  }, [isOpen])
  const close = (): void => {
    setOpen(false)
    button.current?.focus()
  }
  return (
    <div class="picker" ref={box}>
      <button
        type="button"
        ref={button}
        class={value === undefined ? 'button' : 'button on'}
        aria-haspopup="listbox"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        {FILTER_TITLES[name]}
        <Icon name="down" />
      </button>
      {isOpen && <Options name={name} filters={filters} onClose={close} onLeave={() => setOpen(false)} />}
    </div>
  )
}

const intoView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' })

interface OptionsProps {
  readonly name: ValueField
  readonly filters: Filters
  readonly onClose: () => void
  readonly onLeave: () => void
}

function Options({ name, filters, onClose, onLeave }: OptionsProps) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const input = useRef<HTMLInputElement>(null)
  const { data } = useQuery<FieldValues>(`values/${name}`, withoutFilters(filters, name))
  const title = FILTER_TITLES[name]
  useEffect(() => input.current?.focus(), [])

  const sought = text.trim().toLowerCase()
  const found = (data?.items ?? []).filter(({ value }) => value.toLowerCase().includes(sought))
  const isFree = text.trim() !== '' && !found.some(({ value }) => value === text.trim())
  const options = [...found, ...(isFree ? [{ value: text.trim(), count: undefined }] : [])]
  const active = Math.min(at, options.length - 1)
  const choose = (value: string | undefined): void => {
    if (value === undefined) return
    navigate({ filters: withFilter(filters, name, value === filters[name] ? null : value) })
    onClose()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(active + 1, options.length - 1))
    else if (event.key === 'ArrowUp') setAt(Math.max(active - 1, 0))
    else if (event.key === 'Enter') choose(options[active]?.value)
    else if (event.key === 'Escape') onClose()
    else if (event.key === 'Tab') return onLeave()
    else return
    event.preventDefault()
  }
  const list = `options-${name}`
  return (
    <div class="options">
      <input
        ref={input}
        class="field"
        type="text"
        role="combobox"
        aria-label={`${title}: find or type a value`}
        aria-expanded="true"
        aria-autocomplete="list"
        aria-controls={list}
        aria-activedescendant={options.length === 0 ? undefined : `${list}-${active}`}
        placeholder="Find or type"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onKeyDown={onKeyDown}
        onInput={(event) => {
          setText((event.currentTarget as HTMLInputElement).value)
          setAt(0)
        }}
      />
      <ul id={list} role="listbox" aria-label={title}>
        {options.map(({ value, count }, index) => (
          <li
            key={value}
            id={`${list}-${index}`}
            role="option"
            aria-selected={value === filters[name]}
            class={index === active ? 'active' : undefined}
            ref={index === active ? intoView : null}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => choose(value)}
          >
            <span class="cut">
              {count === undefined ? (
                <>
                  Exactly <b>{value}</b>
                </>
              ) : (
                value
              )}
            </span>
            {count !== undefined && <span class="count">{shortCount(count)}</span>}
          </li>
        ))}
      </ul>
      {data !== undefined && options.length === 0 && (
        <p class="faint">No entry has a {title.toLowerCase()}. Type one to wait for it.</p>
      )}
      {data?.more === true && <p class="faint">There are more: type a value.</p>}
    </div>
  )
}
