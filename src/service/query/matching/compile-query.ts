/** Compiles a query into a predicate over indexed records. */
import { IngestServiceError } from '../../ingest-service-error.js'
import type { IndexedEntry, IndexedRequest } from '../../store/indexed-record.js'
import { findFieldRule, resolveFieldName } from '../language/fields.js'
import { parseQuery } from '../language/parser.js'
import { printQuery } from '../language/printer.js'
import type { QueryNode, QueryProblem, TermNode } from '../language/query-node.js'
import { QueryProblemError } from '../language/query-node.js'
import { findText } from '../language/search-texts.js'
import { foldCase } from '../../store/record-texts.js'
import { ENTRIES, findReader, isIndexed, REQUESTS } from './field-readers.js'
import type { SearchedKind } from './field-readers.js'
import type { FieldValue } from './record-readers.js'
import type { MatchMemo, MemoKey } from './match-memo.js'
import { compilePattern, MAX_PATTERN_MS, PatternBudget } from './pattern.js'
import { compileValue, findParts } from './value-predicates.js'
import type { ValueTest } from './value-predicates.js'

export type Matcher<R> = (record: R) => boolean

interface Searched extends MemoKey {
  /** All texts in lower case, each followed by U+001F. */
  readonly search: string
}

/**
 * @param memo if queries with the same terms will follow: it caches outcomes, which takes 1 MiB per term
 * @param patternMs time limit for regular expressions in milliseconds
 * @throws IngestServiceError `QUERY` with the position
 */
export function compileEntryQuery(q: string, memo?: MatchMemo, patternMs = MAX_PATTERN_MS): Matcher<IndexedEntry> {
  return compileQuery(q, ENTRIES, memo, patternMs)
}

/** @throws IngestServiceError `QUERY` with the position */
export function compileRequestQuery(q: string, memo?: MatchMemo): Matcher<IndexedRequest> {
  return compileQuery(q, REQUESTS, memo, MAX_PATTERN_MS)
}

function compileQuery<R extends Searched>(
  q: string,
  kind: SearchedKind<R>,
  memo: MatchMemo | undefined,
  patternMs: number,
): Matcher<R> {
  const { query, problem } = parseQuery(q)
  if (problem !== undefined) throw createProblemError(problem)
  try {
    return new Compiler(kind, new PatternBudget(patternMs), memo).compile(query).test
  } catch (error) {
    if (!(error instanceof QueryProblemError)) throw error
    throw createProblemError(error.problem)
  }
}

function createProblemError({ message, position, length }: QueryProblem): IngestServiceError {
  return new IngestServiceError('QUERY', `q: ${message}`, undefined, { position, length })
}

/** A test and its cost; cheap tests run first. */
interface Compiled<R> {
  readonly test: Matcher<R>
  readonly cost: number
}

const FIELD_COST = 1
const RECORD_COST = 5
const SEARCH_COST = 10
const PATTERN_COST = 100

class Compiler<R extends Searched> {
  readonly #kind: SearchedKind<R>
  readonly #time: PatternBudget
  readonly #memo: MatchMemo | undefined

  constructor(kind: SearchedKind<R>, time: PatternBudget, memo: MatchMemo | undefined) {
    this.#kind = kind
    this.#time = time
    this.#memo = memo
  }

  compile(node: QueryNode): Compiled<R> {
    switch (node.kind) {
      case 'all':
        return { test: () => true, cost: 0 }
      case 'not': {
        const { test, cost } = this.compile(node.node)
        return { test: (record) => !test(record), cost }
      }
      case 'and':
      case 'or': {
        const parts = node.nodes.map((one) => this.compile(one)).toSorted((a, b) => a.cost - b.cost)
        const cost = parts.reduce((sum, part) => sum + part.cost, 0)
        return {
          test: join(
            node.kind,
            parts.map(({ test }) => test),
          ),
          cost,
        }
      }
      case 'term':
        return node.field === null ? this.#compileSearch(node) : this.#compileField(node, node.field)
    }
  }

  /** Compiles a search in all texts of the record. */
  #compileSearch(node: TermNode): Compiled<R> {
    const [value] = node.values
    switch (value?.kind) {
      case 'exact': {
        const lower = foldCase(value.text)
        return this.#memoized(node, ({ search }) => findText(search, lower) !== -1, SEARCH_COST)
      }
      case 'wildcard': {
        const parts = value.parts.map((part) => foldCase(part)).filter((part) => part !== '')
        return this.#memoized(node, ({ search }) => findInOneText(search, parts), SEARCH_COST)
      }
      case 'pattern': {
        const { literal, test } = compilePattern(value)
        const matches = (record: R): boolean =>
          record.search.includes(literal) && this.#time.measure(value, () => this.#kind.anyText(record, test))
        return this.#memoized(node, matches, PATTERN_COST)
      }
      default:
        return { test: () => true, cost: 0 }
    }
  }

  #compileField(node: TermNode, typed: string): Compiled<R> {
    const name = resolveFieldName(typed)
    const tests = node.values.map((value) => compileValue(value, name))
    const asText = node.values.some(({ kind }) => kind === 'pattern' || kind === 'wildcard')
    const read = findReader(this.#kind, name, asText)
    const test = join('or', tests) as ValueTest
    const matches = (record: R): boolean => matchesAny(read(record), test)
    const pattern = node.values.find(({ kind }) => kind === 'pattern')
    if (pattern !== undefined)
      return this.#memoized(node, (record) => this.#time.measure(pattern, () => matches(record)), PATTERN_COST)
    if (isIndexed(this.#kind, name)) return { test: matches, cost: FIELD_COST }
    // A time such as `-10m` is another one in the next query, so outcomes must not be cached.
    if (findFieldRule(name)?.type === 'time') return { test: matches, cost: RECORD_COST }
    return this.#memoized(node, matches, RECORD_COST)
  }

  #memoized(node: TermNode, test: Matcher<R>, cost: number): Compiled<R> {
    return { test: this.#memo?.memoize(`${this.#kind.name} ${printQuery(node)}`, test) ?? test, cost }
  }
}

function join<T>(kind: 'and' | 'or', tests: readonly ((one: T) => boolean)[]): (one: T) => boolean {
  const [first, second] = tests as [(one: T) => boolean, (one: T) => boolean]
  if (tests.length === 1) return first
  if (tests.length === 2)
    return kind === 'and' ? (one) => first(one) && second(one) : (one) => first(one) || second(one)
  return kind === 'and' ? (one) => tests.every((test) => test(one)) : (one) => tests.some((test) => test(one))
}

/** Tests the value, or every value in an array or object. */
function matchesAny(value: FieldValue, test: ValueTest): boolean {
  if (value === undefined) return false
  if (typeof value !== 'object' || value === null) return test(value)
  if (Array.isArray(value)) {
    for (const item of value as readonly FieldValue[]) if (matchesAny(item, test)) return true
    return false
  }
  for (const key in value) if (matchesAny((value as Record<string, FieldValue>)[key], test)) return true
  return false
}

/** Finds the parts in order within a single text. */
function findInOneText(search: string, parts: readonly string[]): boolean {
  const [first = '', ...others] = parts
  for (let at = search.indexOf(first); at !== -1;) {
    const end = search.indexOf('\u001f', at)
    // Searches each text once, which keeps the time linear.
    if (findParts(search.slice(at + first.length, end), others, 0) !== -1) return true
    at = search.indexOf(first, end + 1)
  }
  return false
}
