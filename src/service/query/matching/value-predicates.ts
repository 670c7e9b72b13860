/** Compiles a value of a term into a test for field values (pure). */
import { LEVELS } from '../../../protocol/log-entry.js'
import { findFieldRule } from '../language/fields.js'
import type { FieldRule } from '../language/fields.js'
import { parseDuration, parseNumber, parseTimeInterval } from '../language/operands.js'
import type { CompareOperator, QueryValue } from '../language/query-node.js'
import { QueryProblemError } from '../language/query-node.js'
import { compilePattern } from './pattern.js'
import { foldCase } from '../../store/record-texts.js'

export type Scalar = string | number | boolean | null
export type ValueTest = (value: Scalar) => boolean

/** @param name resolved @throws QueryProblemError */
export function compileValue(value: QueryValue, name: string): ValueTest {
  const rule = findFieldRule(name)
  switch (value.kind) {
    case 'present':
      return () => true
    case 'pattern': {
      const { test } = compilePattern(value)
      return (one) => test(String(one))
    }
    case 'wildcard':
      return compileWildcard(value.parts, rule?.matchesSubstring === true)
    case 'exact':
      return compileExact(value, value.text, rule)
    case 'compare':
      return compileComparison(value, value.operator, value.operand, name, rule)
    case 'range': {
      const from = value.from === null ? undefined : compileComparison(value, '>=', value.from, name, rule)
      const to = value.to === null ? undefined : compileComparison(value, '<=', value.to, name, rule)
      return (one) => (from === undefined || from(one)) && (to === undefined || to(one))
    }
  }
}

function compileExact(value: QueryValue, text: string, rule: FieldRule | undefined): ValueTest {
  if (rule?.type === 'level') return compileLevel(value, '=', text)
  if (rule?.type === 'time') {
    const span = parseTimeInterval(text)
    if (span === undefined) throw createTimeProblem(value)
    return testTime((ms) => ms >= span.startMs && ms < span.endMs, rule)
  }
  const lower = foldCase(text)
  if (rule?.matchesSubstring === true) return (one) => foldCase(String(one)).includes(lower)
  const number = parseNumber(text) ?? (rule?.type === 'number' ? parseDuration(text) : undefined)
  const equals = createEqualsText(text)
  return (one) => (typeof one === 'number' ? one === number : equals(String(one)))
}

/** Ignores case. Compares lengths first: only `İ` changes its length in lower case. */
function createEqualsText(text: string): (one: string) => boolean {
  const lower = foldCase(text)
  const hasOneLength = !lower.includes('\u0307')
  return (one) => (!hasOneLength || one.length === lower.length) && (one === text || foldCase(one) === lower)
}

/** Matches the parts in order. @param isWithin match anywhere in the text instead of the whole text */
function compileWildcard(parts: readonly string[], isWithin: boolean): ValueTest {
  const lower = parts.map((part) => foldCase(part))
  if (isWithin) return (one) => findParts(foldCase(String(one)), lower, 0) !== -1
  const [first = '', middle, last = ''] = [lower[0], lower.slice(1, -1), lower.at(-1)]
  return (one) => {
    const text = foldCase(String(one))
    if (!text.startsWith(first)) return false
    const end = findParts(text, middle, first.length)
    return end !== -1 && end + last.length <= text.length && text.endsWith(last)
  }
}

/** @returns the end of the last part, or -1 */
export function findParts(text: string, parts: readonly string[], from: number): number {
  let end = from
  for (const part of parts) {
    const at = text.indexOf(part, end)
    if (at === -1) return -1
    end = at + part.length
  }
  return end
}

/** A date without a time means the whole day; other times are compared as instants. `10m` is 10 minutes ago, or a number of milliseconds. */
function compileComparison(
  value: QueryValue,
  operator: CompareOperator,
  operand: string,
  name: string,
  rule: FieldRule | undefined,
): ValueTest {
  if (rule?.type === 'level') return compileLevel(value, operator, operand)
  if (name === 'version') {
    if (!VERSION.test(operand)) throw createOperandProblem(value, name, rule)
    const limit = createVersionKey(operand)
    return (one) =>
      VERSION.test(String(one)) && compare(operator, ORDER.compare(createVersionKey(String(one)), limit), 0)
  }
  const durationMs = parseDuration(operand)
  if (rule?.type === 'time' && durationMs !== undefined) {
    const limitMs = Date.now() - Math.abs(durationMs)
    return testTime((ms) => compare(operator, ms, limitMs), rule)
  }
  const number = parseNumber(operand) ?? durationMs
  if (rule?.type === 'time' || (number === undefined && parseTimeInterval(operand) !== undefined)) {
    const span = parseTimeInterval(operand)
    if (span === undefined || rule?.type === 'number') throw createOperandProblem(value, name, rule)
    const isDay = operand.length <= 10
    const { startMs } = span
    const lastMs = isDay ? span.endMs - 1 : startMs
    return testTime((ms) => compare(operator, ms, operator === '>' || operator === '<=' ? lastMs : startMs), rule)
  }
  if (number === undefined) throw createOperandProblem(value, name, rule)
  return (one) => {
    const found = typeof one === 'number' ? one : typeof one === 'string' ? parseNumber(one) : undefined
    return found !== undefined && compare(operator, found, number)
  }
}

const VERSION = /^v?\d+(?:\.\d+)*(?:[-+]|$)/
const ORDER = new Intl.Collator('en', { numeric: true })

/** A text that sorts by the numbers of the version, and a pre-release before its release. */
function createVersionKey(version: string): string {
  const [, numbers = '', preRelease] = /^v?([^-+]*)(?:-([^+]*))?/.exec(version) ?? []
  return `${[...numbers.split('.'), '0', '0', '0'].slice(0, 4).join('.')}.${preRelease === undefined ? '1' : `0.${preRelease}`}`
}

function compare(operator: CompareOperator, a: number, b: number): boolean {
  switch (operator) {
    case '>':
      return a > b
    case '>=':
      return a >= b
    case '<':
      return a < b
    case '<=':
      return a <= b
  }
}

/** Numbers are milliseconds only in time fields of indexed records; elsewhere they do not match. */
function testTime(test: (ms: number) => boolean, rule: FieldRule | undefined): ValueTest {
  const isTime = rule?.type === 'time'
  return (one) => {
    if (typeof one === 'number') return isTime && test(one)
    const span = typeof one === 'string' ? parseTimeInterval(one) : undefined
    return span !== undefined && test(span.startMs)
  }
}

function compileLevel(value: QueryValue, operator: CompareOperator | '=', operand: string): ValueTest {
  const severity = (LEVELS as readonly string[]).indexOf(operand.toLowerCase())
  if (severity === -1)
    throw new QueryProblemError(`the level must be one of ${LEVELS.join(', ')}`, value.start, value.end)
  const levels: readonly Scalar[] = LEVELS.filter((_, at) =>
    operator === '=' ? at === severity : compare(operator, at, severity),
  )
  return (one) => levels.includes(one)
}

function createTimeProblem({ start, end }: QueryValue): QueryProblemError {
  return new QueryProblemError('expected a time as 2026-01-31T08:00:00Z, 2026-01-31 or >-10m', start, end)
}

function createOperandProblem(value: QueryValue, name: string, rule: FieldRule | undefined): QueryProblemError {
  if (rule?.type === 'time') return createTimeProblem(value)
  const wanted = name === 'version' ? 'a version' : rule?.type === 'number' ? 'a number' : 'a number or a time'
  return new QueryProblemError(`${name} can only be compared with ${wanted}`, value.start, value.end)
}
