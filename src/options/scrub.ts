/** The kind of `scrubPatterns`: built-in names and expressions, each checked before it meets any text. Pure. */
import { patternProblem } from '../scrub/check-pattern.js'
import { BUILT_INS } from '../scrub/patterns.js'
import type { Kind } from './kinds.js'
import { texts } from './kinds.js'
import { shown } from './shown.js'

const RULE = `a list of ${BUILT_INS.join(', ')} or regular expressions (in a variable: separated by commas, or JSON)`

/** A quantifier's comma, `\d{3,8}`, at which a comma list would be cut into other expressions than were meant. */
const CUT_QUANTIFIER = /\{\d*\s*,/

export const scrubPatterns: Kind<readonly string[]> & { problem(value: unknown): string | undefined } = {
  rule: RULE,
  read: (value) => {
    const patterns = texts.read(value)
    return patterns?.every((pattern) => patternProblem(pattern) === undefined) === true ? patterns : undefined
  },
  // Left whole it breaks the rule, and `problem` says why.
  parse: (value) => (isCut(value) ? value : texts.parse(value)),
  /** Which of them, and what is wrong with it. */
  problem: (value) => {
    if (typeof value === 'string' && isCut(value)) {
      return `${shown(value)} holds a comma inside of braces, where a comma list would be cut: write the list as JSON, like ["email","\\\\d{3,8}"]`
    }
    for (const pattern of texts.read(value) ?? []) {
      const problem = patternProblem(pattern)
      if (problem !== undefined) return `${shown(pattern)} ${problem}`
    }
    return undefined
  },
}

function isCut(value: string): boolean {
  return !value.trimStart().startsWith('[') && CUT_QUANTIFIER.test(value)
}
