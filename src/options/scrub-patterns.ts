/** The type of `scrubPatterns`: built-in names and expressions, each validated at startup. */
import { checkExpression } from '../redaction/check-expression.js'
import { BUILT_INS } from '../redaction/patterns.js'
import type { Kind } from './kinds.js'
import { texts } from './kinds.js'
import { findNearestName } from '../shared/nearest-name.js'
import { formatValue, formatTypedText } from './format-value.js'

const RULE = `a list of ${BUILT_INS.join(', ')} or regular expressions (in a variable: separated by commas, or JSON)`

/** A quantifier's comma, `\d{3,8}`, at which splitting a comma list would produce wrong expressions. */
const CUT_QUANTIFIER = /\{\d*\s*,/
const PLAIN_WORD = /^[\w -]+$/
/** Letters by which a misspelt built-in name may differ. */
const MAX_TYPOS = 2
/** Each expression reads each text, so their times add up. */
const MAX_TOTAL_INSTRUCTIONS = 4_000

export const scrubPatterns: Kind<readonly string[]> & { problem(value: unknown): string | undefined } = {
  rule: RULE,
  read: (value) => {
    const patterns = texts.read(value)
    return patterns === undefined || listProblem(patterns) !== undefined ? undefined : patterns
  },
  // Not split, so that it breaks the rule and `problem` describes it.
  parse: (value) => (isCut(value) ? value : texts.parse(value)),
  /** The pattern that is wrong, and why. */
  problem: (value) => {
    if (typeof value === 'string' && isCut(value)) {
      return `${formatValue(value)} holds a comma inside of braces, where a comma list would be cut: write the list as JSON, like ["email","\\\\d{3,8}"]`
    }
    return listProblem(texts.read(value) ?? [])
  },
}

function listProblem(patterns: readonly string[]): string | undefined {
  let total = 0
  for (const [index, pattern] of patterns.entries()) {
    if ((BUILT_INS as readonly string[]).includes(pattern)) continue
    const named = `pattern ${index + 1}, ${formatTypedText(pattern)},`
    const meant = PLAIN_WORD.test(pattern) ? findNearestName(pattern, BUILT_INS, MAX_TYPOS) : undefined
    if (meant !== undefined)
      return `unknown pattern ${formatTypedText(pattern)}; did you mean "${meant}"? To match the word itself use ${formatTypedText(`/${pattern}/`)}`
    const check = checkExpression(pattern)
    if (check.problem !== undefined) return `${named} ${check.problem}`
    total += check.instructions
  }
  if (total <= MAX_TOTAL_INSTRUCTIONS) return undefined
  return `the expressions together compile to ${total} instructions, the limit is ${MAX_TOTAL_INSTRUCTIONS}; use fewer, or shorter repetitions`
}

function isCut(value: string): boolean {
  return !value.trimStart().startsWith('[') && CUT_QUANTIFIER.test(value)
}
