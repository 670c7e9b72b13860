/** The search field. Applies a valid query after a pause in typing; completes fields and values by keyboard. */
import type { RefObject } from 'preact'
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import {
  applyCompletion,
  findMistake,
  formatSearch,
  isUnfinishedChart,
  parseSearch,
  splitSearch,
} from '../../query/language/index.js'
import { formatShortCount } from '../view-format.js'
import { Icon } from '../icons.js'
import { readView, navigate } from '../use-view.js'
import { QueryHint, QueryProblem } from './query-problem.js'
import type { MarkedProblem } from './query-problem.js'
import { useCompletion, useFields } from './use-completion.js'

const PAUSE_MS = 250

interface SearchBoxProps {
  readonly kind: 'entries' | 'requests'
  readonly q: string
  readonly input?: RefObject<HTMLInputElement | null>
  readonly problem?: MarkedProblem | undefined
}

export function SearchBox({ kind, q, input: given, problem: refused }: SearchBoxProps) {
  const own = useRef<HTMLInputElement>(null)
  const input = given ?? own
  const id = useId()
  const [text, setText] = useState(q)
  const [problem, setProblem] = useState<MarkedProblem>()
  /** Caret position while completions are shown; null otherwise. */
  const [caret, setCaret] = useState<number | null>(null)
  const [at, setAt] = useState(-1)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  // The last applied query, as the address has it. A change of the address to this query must not overwrite newer input.
  const asked = useRef(q)
  useEffect(() => {
    if (q === asked.current) return
    clearTimeout(timer.current)
    asked.current = q
    setText(q)
    setCaret(null)
    setProblem(undefined)
  }, [q])
  useEffect(() => () => clearTimeout(timer.current), [])

  const search = (next: string): void => {
    clearTimeout(timer.current)
    const { problem: found } = parseSearch(next)
    setProblem(found === undefined ? undefined : { q: next, ...found })
    const [view, wanted] = [readView(), splitSearch(next)]
    if (found !== undefined || formatSearch(wanted) === formatSearch(view)) return
    const isFirst = view.q === '' || (view.chart === null && wanted.chart !== null)
    asked.current = formatSearch(wanted)
    // Back leaves the search instead of removing the last letter.
    navigate(wanted, { replace: !isFirst })
  }
  const edit = (next: string, position: number): void => {
    setText(next)
    setCaret(position)
    setAt(-1)
    clearTimeout(timer.current)
    timer.current = setTimeout(() => (isUnfinishedChart(next) ? setProblem(undefined) : search(next)), PAUSE_MS)
  }

  const suggestions = useCompletion(kind, text, caret)
  const items = suggestions?.items ?? []
  const isOpen = items.length > 0
  const typed = suggestions?.completion
  const isOnlyValue =
    typed?.kind === 'value' && typed.prefix !== '' && items.length === 1 && items[0]?.text !== typed.prefix
  const active = Math.min(at, items.length - 1)
  const target = useRef<number | null>(null)
  useLayoutEffect(() => {
    if (target.current !== null) input.current?.setSelectionRange(target.current, target.current)
    target.current = null
  })
  const accept = (index: number): void => {
    const item = items[index]
    if (item === undefined || suggestions === undefined) return
    const next = applyCompletion(text, suggestions.completion, item.text)
    target.current = next.caret
    edit(next.text, next.caret)
    const { kind: of } = suggestions.completion
    if (of === 'value' || of === 'group') setCaret(null)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return
    if (isOpen && event.key === 'ArrowDown') setAt((active + 1) % items.length)
    else if (isOpen && event.key === 'ArrowUp') setAt(active <= 0 ? items.length - 1 : active - 1)
    else if (isOpen && event.key === 'Escape') setCaret(null)
    else if (isOpen && event.key === 'Tab' && !event.shiftKey) accept(Math.max(0, active))
    else if (event.key === 'Enter' && (active >= 0 || isOnlyValue)) accept(Math.max(0, active))
    else if (event.key === 'Enter') {
      setCaret(null)
      search(text)
    } else return
    event.preventDefault()
  }
  const names = useFields(kind, /[:=<>|]/.test(text), q)
  const isSettled = problem?.q === text || (text !== refused?.q && formatSearch(splitSearch(text)) === q)
  const mistake = useMemo(
    () => (names === undefined || !isSettled ? undefined : findMistake(text, names)),
    [names, text, isSettled],
  )
  // An invalid chart of an address is not sent to the service.
  const invalid = useMemo(() => (isSettled ? parseSearch(text).problem : undefined), [text, isSettled])
  const shown = problem ?? (invalid && { q: text, ...invalid }) ?? (text === refused?.q ? refused : undefined)
  return (
    <div class="search">
      <Icon name="search" />
      <input
        ref={input}
        class="field"
        type="text"
        inputMode="search"
        role="combobox"
        aria-label="Search"
        aria-expanded={isOpen}
        aria-autocomplete="list"
        aria-controls={`${id}-list`}
        aria-activedescendant={isOpen && active >= 0 ? `${id}-${active}` : undefined}
        aria-invalid={shown !== undefined}
        aria-describedby={shown === undefined || mistake !== undefined ? undefined : `${id}-problem`}
        placeholder='Search: words, "a phrase", status:>=500, -service:pay'
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          const field = event.currentTarget as HTMLInputElement
          edit(field.value, field.selectionStart ?? field.value.length)
        }}
        onKeyDown={onKeyDown}
        onClick={() => setCaret(null)}
        onBlur={() => {
          setCaret(null)
          // Applies typed text first: the user's next selection adds to the query.
          if (text !== asked.current) search(text)
        }}
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
            setCaret(null)
            search('')
          }}
        >
          <Icon name="close" />
        </button>
      )}
      <ul id={`${id}-list`} class="suggestions" role="listbox" aria-label="Completions" hidden={!isOpen}>
        {items.map(({ text: option, count }, index) => (
          <li
            key={option}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === active}
            class={index === active ? 'active' : undefined}
            onPointerDown={(event) => {
              event.preventDefault()
              accept(index)
            }}
          >
            <span class="cut">{option}</span>
            <span class="count">{count === undefined ? '' : formatShortCount(count)}</span>
          </li>
        ))}
      </ul>
      {mistake !== undefined && (
        <QueryHint
          mistake={mistake}
          onCorrect={() => {
            setText(mistake.corrected)
            setCaret(null)
            search(mistake.corrected)
          }}
        />
      )}
      {mistake === undefined && shown !== undefined && <QueryProblem id={`${id}-problem`} problem={shown} />}
    </div>
  )
}
