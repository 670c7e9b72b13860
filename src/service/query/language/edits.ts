/** Edits a query for chips, facets and menus. Text outside of the edited term stays as typed (pure). */
import { findFieldRule, resolveFieldName } from './fields.js'
import { parseQuery } from './parser.js'
import { formatTerm, formatValue, printValue } from './printer.js'
import type { QueryNode, TermNode } from './query-node.js'
import { formatFieldName } from './scanner.js'

/** A term of the outermost AND. */
export interface ListedTerm {
  /** Canonical name from `fields.ts`: `status` and `request.status_code` are equal. Null for a text and for terms in brackets. */
  readonly field: string | null
  /** Unquoted texts; comparisons, ranges and regular expressions as typed. Empty for terms in brackets. */
  readonly values: readonly string[]
  readonly isExcluded: boolean
  /** The term as typed. */
  readonly text: string
  readonly start: number
  readonly end: number
}

/** Whether a term in the query, also within brackets, has a field for which the test returns true. */
export function hasField(q: string, test: (field: string) => boolean): boolean {
  const visit = (node: QueryNode): boolean =>
    node.kind === 'term'
      ? node.field !== null && test(resolveFieldName(node.field))
      : node.kind === 'not'
        ? visit(node.node)
        : node.kind !== 'all' && node.nodes.some(visit)
  const { query } = parseQuery(q)
  return query !== undefined && visit(query)
}

type TermValue = string | number | boolean | null

/** @returns an empty list if the query is invalid */
export function listTerms(q: string): readonly ListedTerm[] {
  const { query } = parseQuery(q)
  return query === undefined ? [] : listNodes(query).map((node) => toListedTerm(node, q))
}

/** Adds `field:value`. Replaces existing terms of the field unless an entry can match several values. */
export function addTerm(q: string, field: string, value: TermValue): string {
  const name = resolveFieldName(field)
  const rule = findFieldRule(name)
  const isReplaced = rule?.matchesSubstring !== true && rule?.isMultiValued !== true
  const text = String(value)
  const cleaned = withoutValue(q, name, text, true)
  if (!isReplaced) return appendTerm(withoutValue(cleaned, name, text, false), formatTerm(field, value))
  return replaceField(cleaned, name, formatTerm(field, value))
}

/** Adds `field:>=value` or another comparison. Replaces existing terms of the field. */
export function setComparison(q: string, field: string, operator: '>' | '>=' | '<' | '<=', value: number): string {
  return replaceField(q, resolveFieldName(field), `${formatFieldName(field)}:${operator}${value}`)
}

/** Replaces the first required term of the field, and removes others. Without one, appends the term. */
function replaceField(q: string, name: string, term: string): string {
  const [first, ...others] = findTerms(q, name, false)
  if (first === undefined) return appendTerm(q, term)
  return replaceTerm(
    others.reduceRight((rest, other) => removeTerm(rest, other), q),
    first,
    term,
  )
}

/** Adds `-field:value`, and removes the value from terms that require it. */
export function excludeTerm(q: string, field: string, value: TermValue): string {
  const name = resolveFieldName(field)
  const cleaned = withoutValue(q, name, String(value), false)
  const isExcluded = findTerms(cleaned, name, true).some(({ values }) => hasValue(values, String(value)))
  return isExcluded ? cleaned : appendTerm(cleaned, `-${formatTerm(field, value)}`)
}

/** Adds `-field:*`: only records without the field match. */
export function excludeValues(q: string, field: string): string {
  return appendTerm(q, `-${formatFieldName(field)}:*`)
}

/** Query for the trace, or else for the request id within its run: request ids often restart at 1 in each process. Null without an id. */
export function createRequestQuery({ trace_id, run, service, request_id }: RequestIdentity): string | null {
  if (trace_id !== undefined) return formatTerm('trace', trace_id)
  if (request_id === undefined) return null
  const id = formatTerm('request_id', request_id)
  if (run !== undefined) return `${formatTerm('run', run)} ${id}`
  return service === undefined ? id : `${formatTerm('service', service)} ${id}`
}

export interface RequestIdentity {
  readonly trace_id?: string | undefined
  readonly run?: string | undefined
  readonly service?: string | undefined
  readonly request_id?: string | undefined
}

/** Adds the value to the term of the field, or removes it. An excluded value becomes a required one. */
export function toggleValue(q: string, field: string, value: string): string {
  const name = resolveFieldName(field)
  const isSet = findTerms(q, name, false).some(({ values }) => hasValue(values, value))
  if (isSet) return withoutValue(q, name, value, false)
  const cleaned = withoutValue(q, name, value, true)
  const [term] = findTerms(cleaned, name, false)
  if (term === undefined) return appendTerm(cleaned, formatTerm(field, value))
  return replaceTerm(cleaned, term, printTerm(term, [...printedValues(cleaned, term), formatValue(value)]))
}

/** Removes a term. Without such a term, the text is unchanged. @param term from `listTerms(q)` */
export function removeTerm(q: string, term: ListedTerm): string {
  const terms = listTerms(q)
  const at = terms.findIndex(({ start, text }) => start === term.start && text === term.text)
  if (at === -1) return q
  const [before, after] = [terms[at - 1], terms[at + 1]]
  if (after !== undefined) return q.slice(0, term.start) + q.slice(after.start)
  return before === undefined ? '' : q.slice(0, before.end) + q.slice(term.end).trimEnd()
}

/** Removes the value from the field's terms, and removes terms that have no other value. */
function withoutValue(q: string, name: string, value: string, isExcluded: boolean): string {
  return findTerms(q, name, isExcluded).reduceRight((rest, term) => {
    if (!hasValue(term.values, value)) return rest
    const kept = printedValues(rest, term).filter((_, at) => !hasValue([term.values[at] as string], value))
    return kept.length === 0 ? removeTerm(rest, term) : replaceTerm(rest, term, printTerm(term, kept))
  }, q)
}

function findTerms(q: string, name: string, isExcluded: boolean): readonly ListedTerm[] {
  return listTerms(q).filter((term) => term.field === name && term.isExcluded === isExcluded)
}

/** Ignores case, as queries do. */
function hasValue(values: readonly string[], value: string): boolean {
  return values.some((one) => one.toLowerCase() === value.toLowerCase())
}

function appendTerm(q: string, term: string): string {
  const { query } = parseQuery(q)
  if (q.trim() === '') return term
  const isAlternative = query?.kind === 'or' && !isBracketed(query)
  return isAlternative ? `(${q.trim()}) ${term}` : `${q.trimEnd()} ${term}`
}

function replaceTerm(q: string, { start, end }: ListedTerm, text: string): string {
  return q.slice(0, start) + text + q.slice(end)
}

/** Returns the values of a term as query text. */
function printedValues(q: string, { start, end }: ListedTerm): readonly string[] {
  const { query } = parseQuery(q)
  const node = query && listNodes(query).find((one) => one.start === start && one.end === end)
  const term = node && findTermNode(node)
  return term === undefined ? [] : term.values.map((value) => printValue(value, true))
}

function printTerm({ isExcluded, text }: ListedTerm, values: readonly string[]): string {
  const { query } = parseQuery(text)
  const field = formatFieldName((query && findTermNode(query)?.field) ?? '')
  const printed = values.length === 1 ? (values[0] as string) : `(${values.join(',')})`
  return `${isExcluded ? '-' : ''}${field}:${printed}`
}

/** Returns the operands of the outermost AND. */
function listNodes(query: QueryNode): readonly QueryNode[] {
  if (query.kind === 'all') return []
  return query.kind === 'and' && !isBracketed(query) ? query.nodes : [query]
}

function isBracketed(node: QueryNode & { readonly kind: 'and' | 'or' }): boolean {
  return node.start !== node.nodes[0]?.start
}

function findTermNode(node: QueryNode): TermNode | undefined {
  if (node.kind === 'term') return node
  return node.kind === 'not' && node.node.kind === 'term' ? node.node : undefined
}

function toListedTerm(node: QueryNode, q: string): ListedTerm {
  const term = findTermNode(node)
  const values = term?.values.map((value) => (value.kind === 'exact' ? value.text : printValue(value, true)))
  return {
    field: typeof term?.field === 'string' ? resolveFieldName(term.field) : null,
    values: values ?? [],
    isExcluded: node.kind === 'not',
    text: q.slice(node.start, node.end),
    start: node.start,
    end: node.end,
  }
}
