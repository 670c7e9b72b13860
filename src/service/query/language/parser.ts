/** Parses a query (pure). The grammar is in docs/query-language.md. */
import { isChartStart, parseChart } from './chart.js'
import type { Chart } from './chart.js'
import { QueryProblemError } from './query-node.js'
import type { QueryNode, QueryProblem, QueryValue } from './query-node.js'
import { scanField, scanWord, skipSpace } from './scanner.js'
import { parseFieldValue, parseSearchValue } from './value-parser.js'

export const MAX_QUERY_LENGTH = 8000
/** Maximum nesting depth of brackets and negations. */
const MAX_DEPTH = 50
/** Limits the time of a query: each term can be compared with each entry. */
const MAX_TERMS = 50

export type ParsedQuery =
  | { readonly query: QueryNode; readonly problem?: undefined }
  | { readonly query?: undefined; readonly problem: QueryProblem }

/** Parses a filter. A chart after it is a problem. */
export function parseQuery(text: string): ParsedQuery {
  return catchProblem(() => {
    const { query, chartAt } = new Parser(text).parse()
    if (chartAt !== undefined) throw new QueryProblemError(CHART_IN_FILTER, chartAt, text.length)
    return { query }
  })
}

const CHART_IN_FILTER =
  'a filter has no chart: pino-ingest query --by FIELD counts values, and GET /local/chart takes the part after “|” as chart'

/** What a search box contains: a filter, and the text of a chart after `|`. */
export interface Search {
  readonly q: string
  readonly chart: string | null
}

/** Without a chart, or if the filter is invalid, all of the text is the filter. */
export function splitSearch(text: string): Search {
  const at = findChartStart(text)
  return at === undefined
    ? { q: text, chart: null }
    : { q: text.slice(0, at).trimEnd(), chart: text.slice(at + 1).trim() }
}

/** Formats a search. Splitting it returns the same parts. */
export function formatSearch({ q, chart }: Search): string {
  return chart === null ? q : `${q}${q === '' ? '' : ' '}| ${chart}`
}

/** Finds the chart of a search, or the problem. */
export function parseSearch(text: string): { readonly chart?: Chart; readonly problem?: QueryProblem } {
  return catchProblem(() => {
    const { chartAt } = new Parser(text).parse()
    return chartAt === undefined ? {} : { chart: parseChart(text, chartAt + 1) }
  })
}

/** Offset of the `|` before a chart. */
export function findChartStart(text: string): number | undefined {
  return catchProblem<{ readonly chartAt?: number | undefined }>(() => new Parser(text).parse()).chartAt
}

function catchProblem<T extends object>(
  parse: () => T,
): T | { readonly query?: undefined; readonly chartAt?: undefined; readonly problem: QueryProblem } {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof QueryProblemError)) throw error
    return { problem: error.problem }
  }
}

class Parser {
  readonly #text: string
  #at = 0
  #depth = 0
  #terms = 0

  constructor(text: string) {
    this.#text = text
  }

  /** Returns the filter and the offset of the `|` before a chart. */
  parse(): { readonly query: QueryNode; readonly chartAt: number | undefined } {
    const { length } = this.#text
    if (length > MAX_QUERY_LENGTH)
      throw new QueryProblemError(`a query has at most ${MAX_QUERY_LENGTH} characters`, MAX_QUERY_LENGTH, length)
    this.#skipSpace()
    const isEmpty = this.#at === length || this.#isAtChart()
    const query: QueryNode = isEmpty ? { kind: 'all', start: this.#at, end: this.#at } : this.#parseAlternatives()
    if (this.#isAtChart()) return { query, chartAt: this.#at }
    if (this.#at < length) throw new QueryProblemError('the opening bracket is missing', this.#at, this.#at + 1)
    return { query, chartAt: undefined }
  }

  #parseAlternatives(): QueryNode {
    const nodes = [this.#parseConjunction()]
    while (this.#takeWord('OR')) nodes.push(this.#parseConjunction())
    return join('or', nodes)
  }

  #parseConjunction(): QueryNode {
    const nodes = [this.#parseUnary()]
    for (;;) {
      const isExplicit = this.#takeWord('AND')
      const isOver = this.#isAtEnd() || this.#nextWord() === 'OR'
      if (isOver && !isExplicit) return join('and', nodes)
      nodes.push(this.#parseUnary())
    }
  }

  #parseUnary(): QueryNode {
    const start = this.#at
    if (this.#depth >= MAX_DEPTH)
      throw new QueryProblemError(`brackets and negations can be nested ${MAX_DEPTH} deep`, start, start + 1)
    // `--flag` and a dash between words are texts, not negations.
    const isNegated = /^-[^\s)-]/.test(this.#text.slice(start, start + 2))
    if (isNegated) this.#at++
    if (!isNegated && !this.#takeWord('NOT')) return this.#parsePrimary()
    this.#depth++
    const node = this.#parseUnary()
    this.#depth--
    return { kind: 'not', node, start, end: node.end }
  }

  #parsePrimary(): QueryNode {
    const start = this.#at
    const word = this.#nextWord()
    if (word === 'AND' || word === 'OR')
      throw new QueryProblemError(`a term is missing before ${word}`, start, start + word.length)
    if (this.#isAtEnd()) throw this.#createMissingTerm(start)
    if (this.#text[start] === '(') return this.#parseGroup()
    const field = scanField(this.#text, start)
    if (field !== undefined) return this.#parseField(field.text, start, field.end)
    const value = this.#take(parseSearchValue(this.#text, start))
    return { kind: 'term', field: null, values: [value], start, end: value.end }
  }

  #createMissingTerm(at: number): QueryProblemError {
    const before = /\b(?:AND|OR|NOT)\s*$/.exec(this.#text.slice(0, at))?.[0].trim()
    const message = before === undefined ? 'a term is missing' : `a term is missing after ${before}`
    return new QueryProblemError(message, at, Math.min(at + 1, this.#text.length))
  }

  #parseGroup(): QueryNode {
    const start = this.#at
    this.#moveTo(start + 1)
    if (this.#text[this.#at] === ')') throw new QueryProblemError('the brackets are empty', start, this.#at + 1)
    this.#depth++
    const node = this.#parseAlternatives()
    this.#depth--
    const end = this.#at + 1
    if (this.#text[this.#at] !== ')') throw new QueryProblemError('the closing bracket is missing', start, start + 1)
    this.#moveTo(end)
    return { ...node, start, end }
  }

  #parseField(field: string, start: number, valueAt: number): QueryNode {
    if (field === '') throw new QueryProblemError('the field name is empty', start, valueAt)
    if (this.#text[valueAt] === '(') return this.#parseList(field, start, valueAt)
    const value = this.#take(parseFieldValue(this.#text, valueAt, field, false))
    return { kind: 'term', field, values: [value], start, end: value.end }
  }

  #parseList(field: string, start: number, openAt: number): QueryNode {
    const values: QueryValue[] = []
    this.#moveTo(openAt + 1)
    for (;;) {
      if (this.#at === this.#text.length)
        throw new QueryProblemError('the closing bracket is missing', openAt, openAt + 1)
      values.push(this.#take(parseFieldValue(this.#text, this.#at, field, true)))
      const at = this.#at
      if (this.#text[at] === ')') {
        this.#moveTo(at + 1)
        return { kind: 'term', field, values, start, end: at + 1 }
      }
      if (this.#text[at] === ',') this.#moveTo(at + 1)
      else if (at < this.#text.length && !this.#takeWord('OR'))
        throw new QueryProblemError('a comma is missing between two values', at, at + 1)
    }
  }

  #take(value: QueryValue): QueryValue {
    if (++this.#terms > MAX_TERMS)
      throw new QueryProblemError(`a query has at most ${MAX_TERMS} terms`, value.start, value.end)
    this.#moveTo(value.end)
    return value
  }

  #isAtChart(): boolean {
    return isChartStart(this.#text, this.#at)
  }

  /** Whether no term follows within the brackets. */
  #isAtEnd(): boolean {
    return this.#at === this.#text.length || this.#text[this.#at] === ')' || this.#isAtChart()
  }

  #nextWord(): string {
    return scanWord(this.#text, this.#at).text
  }

  #takeWord(word: string): boolean {
    if (this.#nextWord() !== word) return false
    this.#moveTo(this.#at + word.length)
    return true
  }

  #moveTo(position: number): void {
    this.#at = position
    this.#skipSpace()
  }

  #skipSpace(): void {
    this.#at = skipSpace(this.#text, this.#at)
  }
}

function join(kind: 'and' | 'or', nodes: readonly QueryNode[]): QueryNode {
  const [first, last] = [nodes[0] as QueryNode, nodes.at(-1) as QueryNode]
  return nodes.length === 1 ? first : { kind, nodes, start: first.start, end: last.end }
}
