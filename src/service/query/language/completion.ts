/** Finds the name or value that is being typed at a position of a possibly incomplete query (pure). */
import { CHART_FUNCTIONS } from './chart.js'
import { findChartStart, parseSearch } from './parser.js'
import { formatFieldName, quoteText, scanField, scanPattern, scanQuoted, scanWord } from './scanner.js'
import type { Scanned } from './scanner.js'
import { formatValue } from './printer.js'

export interface Completion {
  /** In a chart: a function, its field with numbers, and the field after `by`. */
  readonly kind: 'field' | 'value' | 'function' | 'number' | 'group'
  /** Field name as typed; null while the field name itself is being typed. */
  readonly field: string | null
  /** Typed part of the name or value, without a quote. */
  readonly prefix: string
  /** Offset of the text that the selected name or value replaces. */
  readonly start: number
  readonly end: number
  /** Whether the value is part of a list in brackets. */
  readonly isListed?: boolean
}

/**
 * @param position of the caret; after the end of the text, it is the end
 * @param hasChart whether charts are completed; default true
 * @returns undefined in a phrase, a regular expression or a comparison, which have no completions
 */
export function findCompletion(q: string, position: number, hasChart = true): Completion | undefined {
  const caret = Math.min(position, q.length)
  const chartAt = findTypedChart(q, caret)
  if (chartAt !== undefined && caret > chartAt) return hasChart ? findInChart(q, chartAt + 1, caret) : undefined
  let at = 0
  /** The field whose value, or list of values, begins at `at`. */
  let field: string | null = null
  let isListed = false
  for (;;) {
    if (caret < at) return undefined
    const character = q[at] ?? ''
    // A minus is part of a word unless it negates the term.
    const isMinus = character === '-' && field === null && /[^\s)-]/.test(q[at + 1] ?? ' ')
    const separators = isListed ? /[\s(),]/ : /[\s()]/
    const isSeparator = (field === null || isListed) && separators.test(character)
    if (caret > at && (isMinus || isSeparator)) {
      if (character === ')') [field, isListed] = [null, false]
      at++
      continue
    }
    const name: Scanned | undefined = field === null ? scanField(q, at) : undefined
    if (name !== undefined && caret >= name.end) {
      field = name.text
      isListed = q[name.end] === '('
      at = name.end + (isListed ? 1 : 0)
      continue
    }
    const end = name?.end ?? findValueEnd(q, at, isListed)
    if (caret <= end) return toCompletion(q, caret, { field, start: at, end, isListed })
    at = end
    if (!isListed) field = null
  }
}

type TypedSpan = Required<Pick<Completion, 'field' | 'start' | 'end' | 'isListed'>>

function toCompletion(q: string, caret: number, { field, start, end, isListed }: TypedSpan): Completion | undefined {
  const typed = q.slice(start, caret)
  if (field === null) {
    if (typed === '') return { kind: 'field', field, prefix: '', start: caret, end: caret }
    const isText = scanField(q, start) === undefined && /^["/]/.test(typed)
    return isText ? undefined : { kind: 'field', field, prefix: typed.replace(/^"/, ''), start, end }
  }
  if (/^[<>]/.test(q.slice(start, end)) || scanPattern(q, start) !== undefined) return undefined
  const prefix = typed.startsWith('"') ? typed.slice(1).replace(/\\(["\\])/g, '$1') : typed
  return { kind: 'value', field, prefix, start, end, isListed }
}

/** Offset of the `|` of a chart, or of one whose function is being typed: `| p9`. */
function findTypedChart(q: string, caret: number): number | undefined {
  const at = q.lastIndexOf('|', caret - 1)
  const [, typed] = (caret > 0 && /^\|\s*(\w*)$/.exec(q.slice(at, caret))) || []
  const isFunction = typed !== undefined && CHART_FUNCTIONS.some((one) => one.startsWith(typed.toLowerCase()))
  return findChartStart(isFunction ? `${q.slice(0, at)}|count` : q)
}

/** Whether the search ends with a chart that is being typed. Until it is complete, it would be an error or a search for a text. */
export function isUnfinishedChart(q: string): boolean {
  const typed = q.replace(/(\|\s*count)\s+(?:b|pe?)$/i, '$1')
  if (findTypedChart(typed, typed.length) === undefined) return false
  return findChartStart(q) === undefined || parseSearch(q).problem !== undefined
}

/** What precedes the typed part of a name. */
const CHART_PARTS = [
  ['function', /^\s*$/],
  ['number', /^\s*\w+\s*\(\s*$/],
  ['group', /\sby\s+$/i],
] as const

function findInChart(q: string, from: number, caret: number): Completion | undefined {
  const typed = /[^\s()"]*$/.exec(q.slice(from, caret))?.[0] ?? ''
  const start = caret - typed.length
  const kind = CHART_PARTS.find(([, before]) => before.test(q.slice(from, start)))?.[0]
  return kind && { kind, field: null, prefix: typed, start, end: Math.max(caret, scanWord(q, start).end) }
}

/** After an open quote, the value extends to the end of the text. */
function findValueEnd(q: string, at: number, isList: boolean): number {
  if (q[at] === '"') return scanQuoted(q, at)?.end ?? q.length
  return (q[at] === '/' ? scanPattern(q, at)?.end : undefined) ?? scanWord(q, at, isList).end
}

export interface CompletedQuery {
  readonly text: string
  readonly caret: number
}

/** Replaces the typed part by the selected name or value. */
export function applyCompletion(q: string, { kind, start, end, isListed }: Completion, chosen: string): CompletedQuery {
  const rest = q.slice(end)
  if (kind === 'function' || kind === 'number' || kind === 'group') {
    const name = kind === 'function' ? chosen : formatFieldName(chosen)
    const open = kind === 'function' && chosen !== 'count' && !/^\s*\(/.test(rest) ? '(' : ''
    const head = q.slice(0, start) + name + open + (kind === 'number' && !/^\s*\)/.test(rest) ? ')' : '')
    return { text: head + rest, caret: head.length }
  }
  const term = kind === 'field' ? `${formatFieldName(chosen)}:` : formatCompletedValue(chosen)
  const space = kind === 'value' && isListed !== true && (rest === '' || /^[^\s),]/.test(rest)) ? ' ' : ''
  const head = q.slice(0, start) + term + space
  // If a space follows already, moves the caret past it.
  return { text: head + rest, caret: head.length + (kind === 'value' && rest.startsWith(' ') ? 1 : 0) }
}

/** Formats a stored value as text, even if it looks like the comparison `>5`. */
function formatCompletedValue(chosen: string): string {
  return chosen === '' ? quoteText(chosen) : formatValue(chosen)
}
