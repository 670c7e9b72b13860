/** The query language: the parsed query and its problems. Shared with the page: no module of this folder imports Node or re2js. */

/** Why a text is not a query, and which part of it is wrong. */
export interface QueryProblem {
  readonly message: string
  /** UTF-16 offset; at most the length of the text. */
  readonly position: number
  /** 0 at the end of the text. */
  readonly length: number
}

/** Offsets in the text of the query, brackets and quotes included. */
interface Span {
  readonly start: number
  readonly end: number
}

export type CompareOperator = '>' | '>=' | '<' | '<='

export type QueryValue = Span &
  (
    | { readonly kind: 'exact'; readonly text: string }
    /** The texts between the asterisks, in this order. */
    | { readonly kind: 'wildcard'; readonly parts: readonly string[] }
    | { readonly kind: 'present' }
    | { readonly kind: 'pattern'; readonly source: string; readonly ignoresCase: boolean }
    | { readonly kind: 'compare'; readonly operator: CompareOperator; readonly operand: string }
    /** Both ends belong to the range; null: open. */
    | { readonly kind: 'range'; readonly from: string | null; readonly to: string | null }
  )

/** A text to search for (`field` is null, one value), or a field that must have one of the values. */
export interface TermNode extends Span {
  readonly kind: 'term'
  /** As typed. */
  readonly field: string | null
  readonly values: readonly QueryValue[]
}

export type QueryNode =
  | TermNode
  /** The empty query. */
  | (Span & { readonly kind: 'all' })
  | (Span & { readonly kind: 'and' | 'or'; readonly nodes: readonly QueryNode[] })
  | (Span & { readonly kind: 'not'; readonly node: QueryNode })

/** Thrown by the parser and the compiler, and caught at their entry points. */
export class QueryProblemError extends Error {
  override readonly name = 'QueryProblemError'
  readonly problem: QueryProblem

  constructor(message: string, start: number, end: number) {
    super(message)
    this.problem = { message, position: start, length: end - start }
  }
}
