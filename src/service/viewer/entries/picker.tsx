/** Selects values of a field, stored or typed ones. They become a term of the query. */
import { useEffect, useState } from 'preact/hooks'
import { resolveFieldName } from '../../query/language/index.js'
import type { FieldValues } from '../../query/api-types.js'
import { Icon } from '../icons.js'
import { Popup } from '../popup.js'
import { listTerms, removeTerm, toggleValue } from '../../query/language/index.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import type { Filter } from '../view.js'
import { Options } from './options.js'
import type { Option } from './options.js'

interface PickerProps {
  readonly kind: 'entries' | 'requests'
  readonly field: string
  readonly title: string
  readonly view: Filter
}

const LIMIT = 50
const PAUSE_MS = 120

export function Picker(props: PickerProps) {
  const { field, title, view } = props
  const terms = listTerms(view.q).filter((term) => term.field === resolveFieldName(field))
  const chosen = terms.filter(({ isExcluded }) => !isExcluded).flatMap(({ values }) => values)
  const label = (
    <>
      {title}
      {chosen.length > 1 && <span class="count">{chosen.length}</span>}
      <Icon name="down" />
    </>
  )
  return (
    <Popup label={label} kind="listbox" class={terms.length > 0 ? 'button picker on' : undefined}>
      {(close) => <Values {...props} onLeave={close} />}
    </Popup>
  )
}

interface ValuesProps extends PickerProps {
  readonly onLeave: () => void
}

function Values({ kind, field, title, view, onLeave }: ValuesProps) {
  const [prefix, setPrefix] = useState('')
  const [asked, setAsked] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setAsked(prefix), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [prefix])
  const terms = listTerms(view.q).filter((term) => term.field === resolveFieldName(field))
  // Removes the field's own terms: selected values must not limit the options.
  const q = terms.reduceRight((rest, term) => removeTerm(rest, term), view.q)
  const parameters = useFilterParameters({ ...view, q })
  const { data } = useQuery<FieldValues>('values', {
    ...parameters,
    field,
    kind,
    limit: LIMIT,
    prefix: asked || undefined,
  })
  const stateOf = (value: string): Option['state'] => {
    const term = terms.find(({ values }) => values.some((one) => one.toLowerCase() === value.toLowerCase()))
    return term === undefined ? 'none' : term.isExcluded ? 'excluded' : 'chosen'
  }
  const stored = data?.items ?? []
  const set = terms.flatMap(({ values }) => values).filter((value) => !stored.some((one) => one.value === value))
  const options = [...stored, ...(asked === '' ? set.map((value) => ({ value })) : [])]
    .filter(({ value }) => value.toLowerCase().includes(prefix.toLowerCase()))
    .map((option) => ({ ...option, state: stateOf(option.value) }))
  return (
    <Options
      id={`options-${field}`}
      title={title}
      options={options}
      hasMore={data?.more === true}
      empty={data === undefined ? 'Loading …' : `No entry has a ${title.toLowerCase()}. Type one to wait for it.`}
      isFree
      onInput={setPrefix}
      onChoose={(value) => navigate({ q: toggleValue(view.q, field, value) })}
      onLeave={onLeave}
    />
  )
}
