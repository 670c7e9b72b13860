/** Parses and formats a chart, which follows a filter after `|`: `p95(duration) by route` (pure). */
import { findFieldRule, resolveFieldName } from './fields.js'
import { QueryProblemError } from './query-node.js'
import { CHART_FUNCTIONS, formatFieldName, scanQuoted, scanWord, skipSpace } from './scanner.js'
import type { ChartFunction, Scanned } from './scanner.js'

export interface Chart {
  readonly name: ChartFunction
  /** The field with the numbers, as typed; null for `count`. */
  readonly field: string | null
  /** The field with a line for each of its values, as typed; null for a single line. */
  readonly by: string | null
}

/** @param start offset in the text; also of the problem @throws QueryProblemError */
export function parseChart(text: string, start = 0): Chart {
  const nameAt = skipSpace(text, start)
  const typed = scanWord(text, nameAt)
  const name = CHART_FUNCTIONS.find((one) => one === typed.text.toLowerCase())
  if (name === undefined)
    throw new QueryProblemError(`a chart begins with ${CHART_FUNCTIONS.join(', ')}`, nameAt, typed.end)
  const field = parseArgument(text, skipSpace(text, typed.end))
  if (name === 'count' && field.text !== '') throw new QueryProblemError('count has no field', typed.end, field.end)
  if (name !== 'count' && field.text === '')
    throw new QueryProblemError(`${name} needs a field with numbers, as in ${name}(duration)`, nameAt, field.end)
  const type = field.text === '' ? undefined : findFieldRule(resolveFieldName(field.text))?.type
  if (type !== undefined && type !== 'number')
    throw new QueryProblemError(`the values of ${field.text} are not numbers`, typed.end, field.end)
  return { name, field: field.text || null, by: parseGroup(text, skipSpace(text, field.end)) }
}

/** Parses `(field)`; the text is empty without one. */
function parseArgument(text: string, at: number): Scanned {
  if (text[at] !== '(') return { text: '', end: at }
  const field = scanName(text, skipSpace(text, at + 1))
  const end = skipSpace(text, field.end)
  if (text[end] !== ')') throw new QueryProblemError('the closing bracket is missing', at, at + 1)
  return { text: field.text, end: end + 1 }
}

/** Parses `by field` up to the end of the text. */
function parseGroup(text: string, at: number): string | null {
  if (at === text.length) return null
  const by = scanWord(text, at)
  if (by.text.toLowerCase() !== 'by')
    throw new QueryProblemError('expected “by” and a field, or the end', at, text.length)
  const field = scanName(text, skipSpace(text, by.end))
  if (field.text === '') throw new QueryProblemError('a field is missing after by', at, text.length)
  const end = skipSpace(text, field.end)
  if (end < text.length) throw new QueryProblemError('a chart ends after the field', end, text.length)
  return field.text
}

function scanName(text: string, at: number): Scanned {
  return (text[at] === '"' ? scanQuoted(text, at) : undefined) ?? scanWord(text, at)
}

export function printChart({ name, field, by }: Chart): string {
  return `${name}${field === null ? '' : `(${formatFieldName(field)})`}${by === null ? '' : ` by ${formatFieldName(by)}`}`
}

const OTHER_NAMES = new Map(Object.entries({ average: 'avg', mean: 'avg', median: 'p50', total: 'sum' }))
const PERCENTILE = /^p\d\d?$/

/** Corrects the text of an invalid chart: `p75(duration)`, `p95 duration by route`, `avg() group by service`. The result can be invalid. */
export function correctChart(text: string): string {
  const [, typed = '', rest = ''] = /^\s*(\w*)(.*)$/s.exec(text) ?? []
  const name = findFunction(typed.toLowerCase())
  const grouped = rest.replace(/\s*\b(?:group\s*by|per)\b/i, ' by')
  if (name === 'count') return name + grouped.replace(/^\s*\([^)]*\)/, '')
  return (
    name + grouped.replace(/^\s*\(\s*\)|^(?=\s+by\b|\s*$)/i, '(duration)').replace(/^\s+(?!by\b)([^\s()]+)/i, '($1)')
  )
}

function findFunction(typed: string): string {
  if (!PERCENTILE.test(typed)) return OTHER_NAMES.get(typed) ?? typed
  const distance = (name: string): number => Math.abs(Number(name.slice(1)) - Number(typed.slice(1)))
  return CHART_FUNCTIONS.filter((one) => PERCENTILE.test(one)).toSorted((a, b) => distance(a) - distance(b))[0] ?? typed
}
