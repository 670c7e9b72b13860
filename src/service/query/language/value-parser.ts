/** Parses one value of a term: text, wildcard, regular expression, comparison, range (pure). */
import { isOperand } from './operands.js'
import { QueryProblemError } from './query-node.js'
import type { CompareOperator, QueryValue } from './query-node.js'
import { scanPattern, scanQuoted, scanWord } from './scanner.js'

const LEVEL = /^(?:debug|info|warn|error|fatal)$/i
const VERSION = /^(?:v\d|\d+\.\d)/

/** @throws QueryProblemError */
function parseQuoted(text: string, start: number): QueryValue {
  const quoted = scanQuoted(text, start)
  if (quoted === undefined) throw new QueryProblemError('the closing quote is missing', start, text.length)
  return { kind: 'exact', text: quoted.text, start, end: quoted.end }
}

/** Parses a value without a field, which cannot be a comparison. @throws QueryProblemError */
export function parseSearchValue(text: string, start: number): QueryValue {
  if (text[start] === '"') return parseQuoted(text, start)
  return parsePattern(text, start) ?? parseText(text, start, false)
}

/** @param field for messages @throws QueryProblemError */
export function parseFieldValue(text: string, start: number, field: string, isList: boolean): QueryValue {
  if (text[start] === '"') return parseQuoted(text, start)
  const pattern = parsePattern(text, start)
  if (pattern !== undefined) return pattern
  const operator = /^[<>]=?/.exec(text.slice(start, start + 2))?.[0] as CompareOperator | undefined
  if (operator !== undefined) return parseComparison(text, start, operator, isList)
  const word = scanWord(text, start, isList)
  if (word.text === '')
    throw new QueryProblemError(`a value is missing after ${field}:`, start, Math.min(start + 1, text.length))
  return parseRange(word.text, start, word.end) ?? parseText(text, start, isList)
}

function parsePattern(text: string, start: number): QueryValue | undefined {
  const found = text[start] === '/' ? scanPattern(text, start) : undefined
  return found && { kind: 'pattern', source: found.source, ignoresCase: found.ignoresCase, start, end: found.end }
}

function parseComparison(text: string, start: number, operator: CompareOperator, isList: boolean): QueryValue {
  const at = start + operator.length
  const isQuoted = text[at] === '"'
  const quoted = isQuoted ? parseQuoted(text, at) : undefined
  const operand = quoted?.kind === 'exact' ? { text: quoted.text, end: quoted.end } : scanWord(text, at, isList)
  if (operand.text === '') throw new QueryProblemError(`a value is missing after ${operator}`, start, at)
  if (!isEnd(operand.text)) throw createEndProblem(operand.text, at, operand.end)
  return { kind: 'compare', operator, operand: operand.text, start, end: operand.end }
}

/** A range needs a bound that is a number, a time, a version or a level: `/a/../b` is a text. */
function parseRange(word: string, start: number, end: number): QueryValue | undefined {
  const at = word.indexOf('..')
  if (at === -1) return undefined
  const [from, to] = [word.slice(0, at), word.slice(at + 2)]
  if (!isEnd(from) && !isEnd(to)) return undefined
  const wrong = from !== '' && !isEnd(from) ? from : to !== '' && !isEnd(to) ? to : undefined
  if (wrong !== undefined) {
    const wrongAt = wrong === from ? start : start + at + 2
    throw createEndProblem(wrong, wrongAt, wrongAt + wrong.length)
  }
  return { kind: 'range', from: from === '' ? null : from, to: to === '' ? null : to, start, end }
}

function createEndProblem(text: string, start: number, end: number): QueryProblemError {
  return new QueryProblemError(
    `expected a number, a level or a time as 2026-01-31T08:00Z or -10m, got ${text}`,
    start,
    end,
  )
}

function isEnd(text: string): boolean {
  return isOperand(text) || LEVEL.test(text) || VERSION.test(text)
}

function parseText(text: string, start: number, isList: boolean): QueryValue {
  const { text: word, end } = scanWord(text, start, isList)
  if (!word.includes('*')) return { kind: 'exact', text: word, start, end }
  if (/^\*+$/.test(word)) return { kind: 'present', start, end }
  return { kind: 'wildcard', parts: word.split(/\*+/), start, end }
}
