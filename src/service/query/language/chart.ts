/** Parses and formats a chart, which follows a filter after `|`: `p95(duration) by route` (pure). */
import { findNearestName } from '../../../shared/nearest-name.js'
import { findFieldRule, resolveFieldName } from './fields.js'
import { parseDuration } from './operands.js'
import { QueryProblemError } from './query-node.js'
import { formatFieldName, scanQuoted, scanWord, skipSpace } from './scanner.js'
import type { Scanned } from './scanner.js'

/** The functions of a chart that are completed. Every `p1` to `p99` is one. */
export const CHART_FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max', 'p50', 'p90', 'p95', 'p99'] as const
export type ChartFunction = (typeof CHART_FUNCTIONS)[number] | `p${number}`

const FUNCTION = 'count|sum|avg|min|max|p[1-9]\\d?'
const IS_FUNCTION = new RegExp(`^(?:${FUNCTION})$`)
/** Logged text often has a `|`, so only one that is a word of its own, with a function after it, begins a chart. */
const START = new RegExp(
  `(?<!\\S)\\|\\s*(?:(?:${FUNCTION})\\(|count(?:\\s*$|\\s+(?:by|per)(?!\\S)|\\s+(?=(\\|))))`,
  'iy',
)

/** Whether the `|` of a chart is at the position. */
export function isChartStart(text: string, position: number): boolean {
  START.lastIndex = position
  const found = START.exec(text)
  // Without this, the filter before the second chart of `a | count | count` would end with a chart.
  return found !== null && (found[1] === undefined || isChartStart(text, position + found[0].length))
}

export interface Chart {
  readonly name: ChartFunction
  /** The field with the numbers, as typed; null for `count`. */
  readonly field: string | null
  /** The field with a line for each of its values, as typed; null for a single line. */
  readonly by: string | null
  /** The step, as typed: `1m`. Without it, one that suits the time range. */
  readonly per?: string
}

/** A field as typed, and its place. */
interface ChartField extends Scanned {
  readonly start: number
}

/** @throws QueryProblemError */
export function parseChart(text: string, start = 0): Chart {
  const { name, field, by, per } = scanChart(text, start)
  return { name, field: field?.text ?? null, by: by?.text ?? null, ...(per !== null && { per: per.text }) }
}

/** @param start offset in the text; also of the problem @throws QueryProblemError */
export function scanChart(text: string, start: number) {
  const nameAt = skipSpace(text, start)
  const typed = scanWord(text, nameAt)
  const name = typed.text.toLowerCase() as ChartFunction
  if (!IS_FUNCTION.test(name))
    throw new QueryProblemError('a chart begins with count, sum, avg, min, max or p1 to p99', nameAt, typed.end)
  const { field, end } = parseArgument(text, skipSpace(text, typed.end))
  if (name === 'count' && field !== null) throw new QueryProblemError('count has no field', typed.end, end)
  if (name !== 'count' && field === null)
    throw new QueryProblemError(`${name} needs a field with numbers, as in ${name}(duration)`, nameAt, end)
  const type = field === null ? undefined : findFieldRule(resolveFieldName(field.text))?.type
  if (field !== null && type !== undefined && type !== 'number')
    throw new QueryProblemError(`the values of ${field.text} are not numbers`, typed.end, end)
  return { name, field, ...parseClauses(text, skipSpace(text, end)) }
}

/** Parses `(field)`, which can be missing. */
function parseArgument(text: string, at: number): { readonly field: ChartField | null; readonly end: number } {
  if (text[at] !== '(') return { field: null, end: at }
  const field = scanName(text, skipSpace(text, at + 1))
  const end = skipSpace(text, field.end)
  if (text[end] !== ')') throw new QueryProblemError('the closing bracket is missing', at, at + 1)
  return { field: field.text === '' ? null : field, end: end + 1 }
}

/** Parses `by field` and `per step`, each at most once, up to the end of the text. */
function parseClauses(
  text: string,
  start: number,
): { readonly by: ChartField | null; readonly per: ChartField | null } {
  const found = { by: null as ChartField | null, per: null as ChartField | null }
  for (let at = start; at < text.length;) {
    const word = scanWord(text, at)
    const clause = word.text.toLowerCase()
    if ((clause !== 'by' && clause !== 'per') || found[clause] !== null)
      throw new QueryProblemError('expected “by” and a field, “per” and a step, or the end', at, text.length)
    const value = scanName(text, skipSpace(text, word.end))
    if (value.text === '') throw new QueryProblemError(`a value is missing after ${clause}`, at, text.length)
    if (clause === 'per' && !((parseDuration(value.text) ?? 0) > 0))
      throw new QueryProblemError('a step is a number and a unit, as in 10s, 1m or 1h', value.start, value.end)
    found[clause] = value
    at = skipSpace(text, value.end)
  }
  return found
}

function scanName(text: string, at: number): ChartField {
  return { start: at, ...((text[at] === '"' ? scanQuoted(text, at) : undefined) ?? scanWord(text, at)) }
}

export function printChart({ name, field, by, per }: Chart): string {
  const argument = field === null ? '' : `(${formatFieldName(field)})`
  return `${name}${argument}${by === null ? '' : ` by ${formatFieldName(by)}`}${per === undefined ? '' : ` per ${per}`}`
}

const OTHER_NAMES = new Map(Object.entries({ average: 'avg', mean: 'avg', median: 'p50', rate: 'count', total: 'sum' }))

/** Corrects what looks like a chart: `mean(duration)`, `p95 duration by route`, `avg() group by service`. The result can be invalid. */
export function correctChart(text: string): string {
  const [, typed = '', rest = ''] = /^\s*(\w*)(.*)$/s.exec(text) ?? []
  const lower = typed.toLowerCase()
  const name = OTHER_NAMES.get(lower) ?? (/\d/.test(lower) ? lower : (findNearestName(lower, CHART_FUNCTIONS) ?? lower))
  const stepped = rest
    .replace(/\s*\bper\s+(?:a\s+)?(second|minute|hour)\b/i, (_, unit: string) => ` per 1${unit[0]}`)
    .replace(/\bper\s+(\d+)\s*$/i, 'per $1m')
  const grouped = stepped.replace(/\s*\b(?:group\s*by|per(?!\s+\d))\b/i, ' by')
  if (name === 'count') return name + grouped.replace(/^\s*\([^)]*\)/, '')
  return (
    name +
    grouped
      .replace(/^\s*\(\s*\)|^(?=\s+(?:by|per)\b|\s*$)/i, '(duration)')
      .replace(/^\s+(?!(?:by|per)\b)\(?([^\s()]+)\)?/i, '($1)')
  )
}
