/** The panel of fields: the most frequent values of a field, each with buttons that filter by it, or all fields. */
import { useEffect, useState } from 'preact/hooks'
import { excludeTerm, listTerms, removeTerm, resolveFieldName, toggleValue } from '../../query/language/index.js'
import type { FieldValues } from '../../query/api-types.js'
import type { LevelCounts } from '../../store/stored-record.js'
import { useChanges } from '../changes.js'
import { Icon } from '../icons.js'
import { useFilterParameters } from '../use-filter-parameters.js'
import { useQuery } from '../use-query.js'
import { navigate } from '../use-view.js'
import { formatPercent, formatShortCount } from '../view-format.js'
import type { Filter } from '../view.js'
import { useFields } from './use-completion.js'

export const ALL_FIELDS = '*'

type Kind = 'entries' | 'requests'

const LIMIT = 50
const MAX_FIELDS = 100
/** Listed first: they answer most questions. */
const FIRST = ['service', 'level', 'route', 'status', 'user', 'duration', 'error.type', 'version', 'environment', 'tag']

interface FieldPanelProps {
  readonly kind: Kind
  readonly view: Filter
  readonly field: string
  /** Null in views without columns. */
  readonly columns: readonly string[] | null
  readonly onShow: (field: string) => void
  readonly onClose: () => void
}

export function FieldPanel({ kind, view, field, columns, onShow, onClose }: FieldPanelProps) {
  const [text, setText] = useState('')
  const isList = field === ALL_FIELDS
  useEffect(() => setText(''), [field])
  return (
    <section
      class="field-panel"
      aria-label="Fields"
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.preventDefault()
        onClose()
      }}
    >
      <div class="field-panel-head">
        {isList ? (
          <h2>Fields</h2>
        ) : (
          <>
            <button type="button" class="link-button" onClick={() => onShow(ALL_FIELDS)}>
              All fields
            </button>
            <h2 class="cut" title={field}>
              {field}
            </h2>
          </>
        )}
        <button type="button" class="button plain icon small" aria-label="Close the fields" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <input
        // Focused when the panel opens, and when it shows another field.
        key={field}
        ref={focus}
        class="field"
        aria-label={isList ? 'Find a field' : `Find a value of ${field}`}
        placeholder="Find"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {isList ? (
        <FieldList kind={kind} text={text} columns={columns} onShow={onShow} />
      ) : (
        <Values kind={kind} view={view} field={field} text={text} />
      )}
    </section>
  )
}

const focus = (input: HTMLInputElement | null): void => input?.focus()

type FieldListProps = Pick<FieldPanelProps, 'kind' | 'columns' | 'onShow'> & { readonly text: string }

function FieldList({ kind, text, columns, onShow }: FieldListProps) {
  const stored = useFields(kind, true, useChanges('entry', 'request'))
  const counts = new Map(stored?.map(({ name, count }) => [name, count]))
  const names = [...new Set([...(columns ?? []), ...FIRST.filter((name) => counts.has(name)), ...counts.keys()])]
  const found = names.filter((name) => name.toLowerCase().includes(text.toLowerCase()))
  return (
    <>
      <ul>
        {found.slice(0, MAX_FIELDS).map((name) => (
          <li key={name}>
            <button type="button" class="menu-item" onClick={() => onShow(name)}>
              <span class="cut">{name}</span>
              <span class="count">{formatShortCount(counts.get(name) ?? 0)}</span>
            </button>
            {columns !== null && (
              <button
                type="button"
                class="button plain icon small"
                aria-label={`Column ${name}`}
                aria-pressed={columns.includes(name)}
                title={columns.includes(name) ? 'Remove the column' : 'Show as a column'}
                onClick={() =>
                  navigate({
                    columns: columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name],
                  })
                }
              >
                <Icon name="columns" />
              </button>
            )}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="muted">{stored === undefined ? 'Loading …' : 'No field has this name.'}</p>}
      {found.length > MAX_FIELDS && <p class="muted">There are more: type part of the name.</p>}
    </>
  )
}

function Values({ kind, view, field, text }: { kind: Kind; view: Filter; field: string; text: string }) {
  const version = useChanges('entry', 'request')
  const terms = listTerms(view.q).filter((term) => term.field === resolveFieldName(field))
  // Without the field's own terms: they must not limit the values.
  const parameters = useFilterParameters({ ...view, q: terms.reduceRight(removeTerm, view.q) })
  const query = { ...parameters, field, kind, limit: LIMIT, prefix: text.trim() || undefined }
  const { data, error } = useQuery<FieldValues>('values', query, version)
  const counts = useQuery<LevelCounts>(kind === 'entries' ? 'counts' : null, parameters, version).data
  const items = data?.items ?? []
  const total = data?.counted ?? counts?.total ?? items.reduce((sum, { count }) => sum + count, 0)
  const has = (value: string, isExcluded: boolean): boolean =>
    terms.some((term) => term.isExcluded === isExcluded && term.values.some((one) => isEqual(one, value)))
  return (
    <>
      <ul>
        {items.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              class="menu-item"
              aria-label={`Filter by ${value}`}
              aria-pressed={has(value, false)}
              title={value}
              onClick={() => navigate({ q: toggleValue(view.q, field, value) })}
            >
              <span class="cut">{value}</span>
            </button>
            <span class="count">{formatShortCount(count)}</span>
            <meter aria-hidden="true" max={Math.max(1, total)} value={count} />
            <span class="field-share">{total > 0 && formatPercent(count / total)}</span>
            <button
              type="button"
              class="button plain icon small"
              aria-label={`Exclude ${value}`}
              aria-pressed={has(value, true)}
              title={has(value, true) ? 'Remove from the filter' : 'Without these'}
              onClick={() => navigate({ q: exclude(view.q, field, value, has(value, true)) })}
            >
              −
            </button>
          </li>
        ))}
      </ul>
      {items.length === 0 && (
        <p class="muted">{data === undefined && error === undefined ? 'Loading …' : 'No value found.'}</p>
      )}
      {data?.more === true && <p class="muted">There are more: type the beginning of one.</p>}
    </>
  )
}

function isEqual(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function exclude(q: string, field: string, value: string, isExcluded: boolean): string {
  // The first toggle requires the excluded value, the second removes it.
  return isExcluded ? toggleValue(toggleValue(q, field, value), field, value) : excludeTerm(q, field, value)
}
