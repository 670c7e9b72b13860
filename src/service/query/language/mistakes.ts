/** Finds what can only be a mistake in a valid query, and corrects it (pure). */
import { FIELDS, isFieldName } from './fields.js'
import { parseQuery } from './parser.js'
import type { QueryNode, TermNode } from './query-node.js'

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
}

/** @param names names of fields that records have, in addition to the fields of the language @returns the first mistake */
export function findMistake(q: string, names: readonly string[]): QueryMistake | undefined {
  const { query } = parseQuery(q)
  if (query === undefined) return undefined
  const terms = [...listTerms(query, false)]
  for (const [index, { term, isExcluded }] of terms.entries()) {
    const isBetween = index > 0 && index < terms.length - 1
    const found =
      term.field === null ? judgeText(term, q, isExcluded, isBetween) : judgeField(term, term.field, q, names)
    if (found === undefined) continue
    const { start, end, message, by } = found
    return { position: start, length: end - start, message, corrected: q.slice(0, start) + by + q.slice(end) }
  }
  return undefined
}

function* listTerms(node: QueryNode, isExcluded: boolean): Generator<{ term: TermNode; isExcluded: boolean }> {
  if (node.kind === 'term') yield { term: node, isExcluded }
  else if (node.kind === 'not') yield* listTerms(node.node, !isExcluded)
  else if (node.kind !== 'all') for (const one of node.nodes) yield* listTerms(one, isExcluded)
}

const OPERATOR = /^([\w.]+)(!=|[<>]=?|==?)([^\s=<>].*)$/

function judgeText({ start, end }: TermNode, q: string, isExcluded: boolean, isBetween: boolean): Found | undefined {
  const text = q.slice(start, end)
  if (isBetween && (text === 'or' || text === 'and'))
    return { start, end, message: `“${text}” is searched as a text`, by: text.toUpperCase() }
  const [, field = '', operator = '', value = ''] = OPERATOR.exec(text) ?? []
  if (!isFieldName(field) || (operator === '!=' && isExcluded)) return undefined
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
    return { start, end: start + field.length, message: `no record has a field “${field}”`, by: nearest }
  for (const value of values) {
    const text = q.slice(value.start, value.end)
    const [, hundred] = CLASS.exec(text) ?? []
    if (hundred !== undefined && /^(?:request\.)?status(?:_code)?$/.test(field))
      return { ...value, message: 'a status is a number', by: `${hundred}00..${hundred}99` }
    const [, from, to] = RANGE.exec(text) ?? []
    if (Number(from) > Number(to)) return { ...value, message: 'no value is in this range', by: `${to}..${from}` }
  }
  return undefined
}

const SHORT_CHARS = 5

/** The known field that is spelled most like an unknown one. */
function findNearest(field: string, names: readonly string[]): string | undefined {
  const typed = field.toLowerCase()
  const isKnown = names.some((name) => name === field || name === `metadata.${field}` || name.startsWith(`${field}.`))
  if (isKnown || isFieldName(typed) || typed.startsWith('metadata')) return undefined
  const most = typed.length < SHORT_CHARS ? 1 : 2
  const near = [...Object.keys(FIELDS), ...names]
    .map((name) => ({ name, distance: countEdits(typed, name.toLowerCase(), most) }))
    .filter(({ distance }) => distance <= most)
  return near.toSorted((a, b) => a.distance - b.distance)[0]?.name
}

/** Insertions, deletions, replacements and swaps of neighbours between the texts; more than `most` if there are more. */
function countEdits(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      next.push(
        Math.min(
          (row[j] as number) + 1,
          (next[j - 1] as number) + 1,
          (row[j - 1] as number) + (isSame ? 0 : 1),
          isSwap ? (before[j - 2] as number) + 1 : Infinity,
        ),
      )
    }
    before = row
    row = next
  }
  return row[b.length] as number
}
