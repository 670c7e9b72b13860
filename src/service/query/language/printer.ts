/** Formats a parsed query as text. Parsing the text returns the same query (pure). */
import type { QueryNode, QueryValue } from './query-node.js'
import { formatFieldName, quoteText } from './scanner.js'

export function printQuery(query: QueryNode): string {
  switch (query.kind) {
    case 'all':
      return ''
    case 'term': {
      const values = query.values.map((value) => printValue(value, query.field !== null))
      const text = values.length === 1 ? (values[0] as string) : `(${values.join(',')})`
      return query.field === null ? text : `${formatFieldName(query.field)}:${text}`
    }
    case 'not': {
      const text = printInner(query.node)
      return text.startsWith('-') ? `-(${text})` : `-${text}`
    }
    case 'and':
    case 'or':
      return query.nodes.map(printInner).join(query.kind === 'and' ? ' ' : ' OR ')
  }
}

/** Adds brackets except around a term; a negation needs them within another negation. */
function printInner(node: QueryNode): string {
  const text = printQuery(node)
  return node.kind === 'term' ? text : `(${text})`
}

export function printValue(value: QueryValue, hasField: boolean): string {
  switch (value.kind) {
    case 'exact':
      return hasField ? formatValue(value.text) : formatSearchText(value.text)
    case 'wildcard':
      return value.parts.join('*')
    case 'present':
      return '*'
    case 'pattern':
      return `/${value.source}/${value.ignoresCase ? 'i' : ''}`
    case 'compare':
      return value.operator + (/\s/.test(value.operand) ? quoteText(value.operand) : value.operand)
    case 'range':
      return `${value.from ?? ''}..${value.to ?? ''}`
  }
}

/** Quotes the text if it would otherwise be parsed differently, alone or in a list. A `/` could begin or end a regular expression. */
export function formatValue(text: string): string {
  const isPlain = !/[\s()",*\\/|]|^[<>]|\.\./.test(text) && text !== ''
  return isPlain ? text : quoteText(text)
}

function formatSearchText(text: string): string {
  const isPlain = /^[\p{L}\p{N}_]/u.test(text) && !/[\s()",*\\:/|]/.test(text) && !/^(?:AND|OR|NOT)$/.test(text)
  return isPlain ? text : quoteText(text)
}

/** Formats a term: `service:api`. */
export function formatTerm(field: string, value: string | number | boolean | null): string {
  return `${formatFieldName(field)}:${formatValue(String(value))}`
}
