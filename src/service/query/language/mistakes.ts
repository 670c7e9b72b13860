/** Finds what can only be a mistake in a search, and corrects it (pure). */
import { findNearestName } from '../../../shared/nearest-name.js'
import { FIELDS, isFieldName, isVersionField, resolveFieldName } from './fields.js'
import { correctChart, scanChart } from './chart.js'
import { findChartStart, parseQuery, parseSearch } from './parser.js'
import type { QueryNode, TermNode } from './query-node.js'
import { formatFieldName, quoteText } from './scanner.js'

export interface QueryMistake {
  readonly position: number
  readonly length: number
  /** What the marked part means now: `“status>500” is searched as a text`. */
  readonly message: string
  /** The whole query, corrected. */
  readonly corrected: string
}

/** The text of a mistake, and what replaces it. */
interface Found {
  readonly start: number
  readonly end: number
  readonly message: string
  readonly by: string
  /** Whether the correction makes the text a chart. */
  readonly isChart?: true
  /** What is marked instead of the replaced text. */
  readonly marked?: Pick<QueryMistake, 'position' | 'length'>
}

/** @param names names of fields that records have, in addition to the fields of the language @returns the first mistake */
export function findMistake(q: string, names: readonly string[]): QueryMistake | undefined {
  const chartAt = findChartStart(q)
  const { query } = parseQuery(q.slice(0, chartAt))
  if (query === undefined) return undefined
  const inChart = chartAt === undefined ? [] : listChartMistakes(q, chartAt, names)
  for (const { start, end, message, by, isChart, marked } of [
    ...listMistakes(query, false, false, q, names),
    ...inChart,
  ]) {
    const corrected = q.slice(0, start) + by + q.slice(end)
    const { problem, chart } = parseSearch(corrected)
    if (problem === undefined && (isChart !== true || chart !== undefined))
      return { position: start, length: end - start, ...marked, message, corrected }
  }
  return undefined
}

function listChartMistakes(q: string, start: number, names: readonly string[]): readonly Found[] {
  const { problem } = parseSearch(q)
  if (problem !== undefined) {
    const { message, ...marked } = problem
    const found = { start, end: q.length, message, marked }
    const text = q.slice(start)
    return [
      { ...found, by: `| ${correctChart(text.slice(1))}`, isChart: true },
      { ...found, by: quoteText(text) },
    ]
  }
  const { field, by } = scanChart(q, start + 1)
  return [field, by].flatMap((one) => {
    const nearest = one === null ? undefined : findNearest(one.text, names)
    if (one === null || nearest === undefined) return []
    return { ...one, message: `no recent record has a field “${one.text}”`, by: formatFieldName(nearest) }
  })
}

/** @param isBetween whether the node is between two others that must match */
function* listMistakes(
  node: QueryNode,
  isExcluded: boolean,
  isBetween: boolean,
  q: string,
  names: readonly string[],
): Generator<Found> {
  if (node.kind === 'term') {
    const found =
      node.field === null ? judgeText(node, q, isExcluded, isBetween) : judgeField(node, node.field, q, names)
    if (found !== undefined) yield found
  } else if (node.kind === 'not') yield* listMistakes(node.node, !isExcluded, false, q, names)
  else if (node.kind !== 'all')
    for (const [at, one] of node.nodes.entries())
      yield* listMistakes(one, isExcluded, node.kind === 'and' && at > 0 && at < node.nodes.length - 1, q, names)
}

const OPERATOR = /^([\w.]+)(!=|[<>]=?|==?)([^\s=<>].*)$/
/** Others are often parts of logged texts: `id=5`, `user=bob`. */
const COMPARED: ReadonlySet<string> = new Set([
  ...['level', 'service', 'status', 'duration', 'method', 'route', 'environment', 'version'],
])

function judgeText({ start, end }: TermNode, q: string, isExcluded: boolean, isBetween: boolean): Found | undefined {
  const text = q.slice(start, end)
  if (/^\|\w*$/.test(text) && !isExcluded) {
    const by = `| ${correctChart(q.slice(start + 1))}`
    return { start, end: q.length, message: `“${q.slice(start)}” is searched as a text`, by, isChart: true }
  }
  if (isBetween && (text === 'or' || text === 'and'))
    return { start, end, message: `“${text}” is searched as a text`, by: text.toUpperCase() }
  const [, field = '', operator = '', value = ''] = OPERATOR.exec(text) ?? []
  if (!COMPARED.has(resolveFieldName(field)) || (operator === '!=' && isExcluded)) return undefined
  const by = `${operator === '!=' ? '-' : ''}${field}:${/[<>]/.test(operator) ? operator : ''}${value}`
  return { start, end, message: `“${text}” is searched as a text`, by }
}

const CLASS = /^([1-5])xx$/i
const RANGE = /^(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)$/

function judgeField(
  { start, values }: TermNode,
  field: string,
  q: string,
  names: readonly string[],
): Found | undefined {
  const nearest = q.startsWith(field, start) ? findNearest(field, names) : undefined
  if (nearest !== undefined)
    return {
      start,
      end: start + field.length,
      message: `no recent record has a field “${field}”`,
      by: formatFieldName(nearest),
    }
  const isOfVersions = isVersionField(field)
  for (const value of values) {
    const text = q.slice(value.start, value.end)
    const [, hundred] = CLASS.exec(text) ?? []
    if (hundred !== undefined && resolveFieldName(field) === 'status')
      return { ...value, message: 'a status is a number', by: `${hundred}00..${hundred}99` }
    const [, from, to] = RANGE.exec(text) ?? []
    if (!isOfVersions && Number(from) > Number(to))
      return { ...value, message: 'no value is in this range', by: `${to}..${from}` }
  }
  return undefined
}

const SHORT_CHARS = 5

/** The known field that is spelled most like an unknown one. */
function findNearest(field: string, names: readonly string[]): string | undefined {
  const typed = field.toLowerCase()
  const paths = names.map((name) => name.replace(/^metadata\./, ''))
  const isKnown = paths.some((path) => path === field || path.startsWith(`${field}.`))
  if (isKnown || isFieldName(typed) || typed.startsWith('metadata')) return undefined
  const most = typed.length < SHORT_CHARS ? 1 : 2
  // A stored name that differs only in case comes first.
  return findNearestName(typed, [...paths, ...Object.keys(FIELDS)], most)
}
