/** Types of a parsed query and its problems. The page bundles this folder: its modules must not import Node or re2js. */

/** The reason why a query is invalid, and the invalid part. */
export interface QueryProblem {
  readonly message: string
  /** UTF-16 offset; at most the length of the text. */
  readonly position: number
  /** Length of the invalid part; 0 at the end of the text. */
  readonly length: number
}

/** Offsets in the query text. Surrounding brackets and quotes are part of the span. */
interface Span {
  readonly start: number
  readonly end: number
}

export type CompareOperator = '>' | '>=' | '<' | '<='

export type QueryValue = Span &
  (
    | { readonly kind: 'exact'; readonly text: string }
    /** The texts between the asterisks, in order. */
    | { readonly kind: 'wildcard'; readonly parts: readonly string[] }
    | { readonly kind: 'present' }
    | { readonly kind: 'pattern'; readonly source: string; readonly ignoresCase: boolean }
    | { readonly kind: 'compare'; readonly operator: CompareOperator; readonly operand: string }
    /** Both bounds are inclusive; null means unbounded. */
    | { readonly kind: 'range'; readonly from: string | null; readonly to: string | null }
  )

/** A text to search for (`field` is null, one value), or a field that must match one of the values. */
export interface TermNode extends Span {
  readonly kind: 'term'
  /** Field name as typed. */
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
