/** Finds what can only be a mistake in a search, and corrects it (pure). */
import { findNearestName } from '../../../shared/nearest-name.js'
import { LEVELS } from '../../../protocol/log-entry.js'
import { FIELDS, isFieldName, resolveFieldName } from './fields.js'
import { correctChart, scanChart } from './chart.js'
import { findChartStart, parseQuery, parseSearch } from './parser.js'
import type { QueryNode, TermNode } from './query-node.js'
import { formatValue } from './printer.js'
import { formatFieldName, quoteText } from './scanner.js'

export interface QueryMistake {
  /** What is wrong: `“status>500” is searched as a text`. */
  readonly message: string
  /** The whole query, corrected. */
  readonly corrected: string
}

/** The text of a mistake, and what replaces it. */
interface Found {
  readonly start: number
  readonly end: number
  readonly message: string
  readonly replacement: string
  /** Whether the correction makes the text a chart. */
  readonly isChart?: true
}

export interface KnownField {
  readonly name: string
  /** All of its values, if there are few. */
  readonly values?: readonly string[]
}

/** @param known fields of recent records, in addition to the fields of the language @returns the first mistake */
export function findMistake(q: string, known: readonly KnownField[]): QueryMistake | undefined {
  const chartAt = findChartStart(q)
  const { query } = parseQuery(q.slice(0, chartAt))
  if (query === undefined) return undefined
  const inChart = chartAt === undefined ? [] : listChartMistakes(q, chartAt, known)
  for (const { start, end, message, replacement, isChart } of [
    ...listMistakes(query, false, false, q, known),
    ...inChart,
  ]) {
    const corrected = q.slice(0, start) + replacement + q.slice(end)
    const { problem, chart } = parseSearch(corrected)
    if (problem === undefined && (isChart !== true || chart !== undefined)) return { message, corrected }
  }
  return undefined
}

function listChartMistakes(q: string, start: number, known: readonly KnownField[]): readonly Found[] {
  const { problem } = parseSearch(q)
  if (problem !== undefined) {
    const found = { start, end: q.length, message: problem.message }
    const text = q.slice(start)
    return [
      { ...found, replacement: `| ${correctChart(text.slice(1))}`, isChart: true },
      { ...found, replacement: quoteText(text) },
    ]
  }
  const { field, by } = scanChart(q, start + 1)
  return [field, by].flatMap((one) => {
    const nearest = one === null ? undefined : findNearest(one.text, known)
    if (one === null || nearest === undefined) return []
    return { ...one, message: `no recent record has a field “${one.text}”`, replacement: formatFieldName(nearest) }
  })
}

/** @param isBetween whether the node is between two others that must match */
function* listMistakes(
  node: QueryNode,
  isExcluded: boolean,
  isBetween: boolean,
  q: string,
  known: readonly KnownField[],
): Generator<Found> {
  if (node.kind === 'term') {
    const found =
      node.field === null ? judgeText(node, q, isExcluded, isBetween, known) : judgeField(node, node.field, q, known)
    if (found !== undefined) yield found
  } else if (node.kind === 'not') yield* listMistakes(node.node, !isExcluded, false, q, known)
  else if (node.kind !== 'all')
    for (const [at, one] of node.nodes.entries())
      yield* listMistakes(one, isExcluded, node.kind === 'and' && at > 0 && at < node.nodes.length - 1, q, known)
}

const OPERATOR = /^([\w.]+)(!=|[<>]=?|==?)([^\s=<>].*)$/

function judgeText(
  { start, end }: TermNode,
  q: string,
  isExcluded: boolean,
  isBetween: boolean,
  known: readonly KnownField[],
): Found | undefined {
  const text = q.slice(start, end)
  if (/^\|\w*$/.test(text) && !isExcluded) {
    const replacement = `| ${correctChart(q.slice(start + 1))}`
    return { start, end: q.length, message: `“${q.slice(start)}” is searched as a text`, replacement, isChart: true }
  }
  if (isBetween && (text === 'or' || text === 'and'))
    return { start, end, message: `“${text}” is searched as a text`, replacement: text.toUpperCase() }
  const [, field = '', operator = '', value = ''] = OPERATOR.exec(text) ?? []
  if (!isKnownField(field, known) || (operator === '!=' && isExcluded)) return undefined
  const replacement = `${operator === '!=' ? '-' : ''}${field}:${/[<>]/.test(operator) ? operator : ''}${value}`
  return { start, end, message: `“${text}” is searched as a text`, replacement }
}

const CLASS = /^([1-5])xx$/i
const RANGE = /^(-?\d+(?:\.\d+)?)\.\.(-?\d+(?:\.\d+)?)$/

function judgeField(
  { start, values }: TermNode,
  field: string,
  q: string,
  known: readonly KnownField[],
): Found | undefined {
  const nearest = q.startsWith(field, start) ? findNearest(field, known) : undefined
  if (nearest !== undefined)
    return {
      start,
      end: start + field.length,
      message: `no recent record has a field “${field}”`,
      replacement: formatFieldName(nearest),
    }
  const name = resolveFieldName(field)
  const texts = name === 'level' ? LEVELS : (known.find((one) => one.name === name)?.values ?? [])
  for (const value of values) {
    const text = q.slice(value.start, value.end)
    const meant = value.kind === 'exact' ? findNearestValue(value.text, texts) : undefined
    if (meant !== undefined)
      return { ...value, message: `no recent record has ${field} “${text}”`, replacement: formatValue(meant) }
    const [, hundred] = CLASS.exec(text) ?? []
    if (hundred !== undefined && name === 'status')
      return { ...value, message: 'a status is a number', replacement: `${hundred}00..${hundred}99` }
    const [, from, to] = RANGE.exec(text) ?? []
    if (name !== 'version' && Number(from) > Number(to))
      return { ...value, message: 'no value is in this range', replacement: `${to}..${from}` }
  }
  return undefined
}

const SHORT_CHARS = 5

function findMaxDistance({ length }: string): number {
  return length < SHORT_CHARS ? 1 : 2
}

function findNearestValue(text: string, known: readonly string[]): string | undefined {
  const isKnown = known.some((one) => one.toLowerCase() === text.toLowerCase())
  return isKnown ? undefined : findNearestName(text, known, findMaxDistance(text))
}

function isKnownField(field: string, known: readonly KnownField[]): boolean {
  const name = resolveFieldName(field)
  return isFieldName(field) || known.some((one) => one.name === name || one.name.startsWith(`${name}.`))
}

/** The known field that is spelled most like an unknown one. */
function findNearest(field: string, known: readonly KnownField[]): string | undefined {
  if (isKnownField(field, known) || field.toLowerCase().startsWith('metadata')) return undefined
  const paths = known.map(({ name }) => name.replace(/^metadata\./, ''))
  // Rows print `error.cause.code` as `code`, and `error.cause.message` as `cause`.
  const longer = paths.find((path) => path.endsWith(`.${field}`) || path.endsWith(`.${field}.message`))
  if (longer !== undefined) return longer
  // A stored name that differs only in case comes first.
  return findNearestName(field.toLowerCase(), [...paths, ...Object.keys(FIELDS)], findMaxDistance(field))
}
