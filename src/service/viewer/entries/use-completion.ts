/** Completions at the caret in the query: field names and stored values. */
import { useEffect, useRef, useState } from 'preact/hooks'
import { CHART_FUNCTIONS, findCompletion, resolveFieldName } from '../../query/language/index.js'
import type { Completion } from '../../query/language/index.js'
import type { FieldInfo, FieldValues } from '../../query/api-types.js'
import { useQuery } from '../use-query.js'
import { useView } from '../use-view.js'

export interface Suggestion {
  readonly text: string
  /** Number of records with it; undefined for a function. */
  readonly count?: number
}

export interface Suggestions {
  readonly completion: Completion
  readonly items: readonly Suggestion[]
}

const LIMIT = 12
const PAUSE_MS = 120

/** @param caret null while completions are hidden */
export function useCompletion(kind: 'entries' | 'requests', q: string, caret: number | null): Suggestions | undefined {
  const hasChart = useView().name === 'entries'
  const completion = caret === null ? undefined : findCompletion(q, caret, hasChart)
  const isValue = completion?.kind === 'value'
  const fields = useFields(kind, completion !== undefined && !isValue && completion.kind !== 'function')
  const name = isValue ? resolveFieldName(completion.field ?? '') : null
  const wanted = isValue ? JSON.stringify([name, completion.prefix]) : null
  const [asked, setAsked] = useState<string | null>(null)
  useEffect(() => {
    if (wanted === null) return setAsked(null)
    const timer = setTimeout(() => setAsked(wanted), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const [field, prefix] = asked === null ? [] : (JSON.parse(asked) as [string, string])
  const { data, isCurrent } = useQuery<FieldValues>(field === undefined ? null : 'values', {
    field,
    prefix: prefix || undefined,
    kind,
    limit: LIMIT,
  })
  const last = useRef<{ readonly field: string; readonly values: FieldValues['items'] } | null>(null)
  if (isCurrent && field !== undefined && data !== undefined) last.current = { field, values: data.items }
  if (completion === undefined) return undefined
  if (isValue) {
    const values = last.current?.field === name ? last.current.values : []
    return { completion, items: findValues(values, completion.prefix) }
  }
  const { kind: of, prefix: typed } = completion
  if (of === 'function')
    return {
      completion,
      items: CHART_FUNCTIONS.filter((one) => one !== typed && one.startsWith(typed.toLowerCase())).map((text) => ({
        text,
      })),
    }
  // No suggestions before the first letter, because the list would cover entries.
  if (of === 'field' && typed === '') return undefined
  return {
    completion,
    items: findFields(
      (fields ?? []).filter(({ type }) => of !== 'number' || type === 'number'),
      typed,
      of,
    ),
  }
}

/** Loads the fields of stored records. @param version loads them again when it changes */
export function useFields(kind: 'entries' | 'requests', isNeeded = true, version?: unknown) {
  return useQuery<{ readonly items: readonly FieldInfo[] }>(isNeeded ? 'fields' : null, { kind }, version).data?.items
}

/** Filters the last loaded values by the typed prefix, to show suggestions while new values load. */
function findValues(values: FieldValues['items'], prefix: string): Suggestion[] {
  const sought = prefix.toLowerCase()
  return values
    .filter(({ value }) => value.toLowerCase().startsWith(sought))
    .map(({ value, count }) => ({ text: value, count }))
}

const CHARTED: Readonly<Record<string, readonly string[]>> = {
  group: ['service', 'route', 'level', 'status', 'version', 'environment'],
  number: ['duration', 'perf.duration_ms', 'perf.memory_mb'],
}
/** Nearly every entry has another value. */
const UNIQUE = /(?:^|[._])(?:id|seq|at|timestamp|message)$|[a-z]Id$/

/** Finds fields that begin with the text, then fields with a part that does; useful ones first, then the most frequent. */
function findFields(fields: readonly FieldInfo[], prefix: string, kind: Completion['kind']): Suggestion[] {
  const sought = prefix.toLowerCase()
  const charted = CHARTED[kind]
  const rank = (name: string): number => {
    if (!name.toLowerCase().startsWith(sought)) return 100
    if (charted === undefined) return 0
    const at = charted.indexOf(name)
    return at !== -1 ? at : UNIQUE.test(name) ? 90 : 80
  }
  return fields
    .filter(({ name }) =>
      name
        .toLowerCase()
        .split('.')
        .some((_, at, parts) => parts.slice(at).join('.').startsWith(sought)),
    )
    .toSorted((a, b) => rank(a.name) - rank(b.name) || b.count - a.count)
    .slice(0, LIMIT)
    .map(({ name, count }) => ({ text: name, count }))
}
