/** The texts that a query searches for, and where a text occurs (pure). The page marks what it finds. */
import { foldCase } from '../../store/record-texts.js'
import { parseQuery } from './parser.js'
import type { QueryNode } from './query-node.js'

const NUMBER = /^\d+$/
const LETTER_OR_DIGIT = /[\p{L}\p{N}]/u

/**
 * Index of the text at or after `from`, -1 if there is none. A number is found only as a whole word: 4711 in `orderId=4711` and
 * `/orders/4711`, but not in the id `a4711b`.
 * @param folded text in lower case, as `text`
 */
export function findText(folded: string, text: string, from = 0): number {
  let at = folded.indexOf(text, from)
  if (at === -1 || !NUMBER.test(text)) return at
  const isWithin = (index: number): boolean => LETTER_OR_DIGIT.test(folded[index] ?? '')
  while (at !== -1 && (isWithin(at - 1) || isWithin(at + text.length))) at = folded.indexOf(text, at + 1)
  return at
}

/** The words and quoted texts without a field that records can match, in lower case. */
export function listSearchTexts(q: string): readonly string[] {
  const visit = (node: QueryNode): readonly string[] => {
    if (node.kind === 'and' || node.kind === 'or') return node.nodes.flatMap(visit)
    if (node.kind !== 'term' || node.field !== null) return []
    return node.values.flatMap((value) => (value.kind === 'exact' && value.text !== '' ? [foldCase(value.text)] : []))
  }
  const { query } = parseQuery(q)
  return query === undefined ? [] : visit(query)
}
