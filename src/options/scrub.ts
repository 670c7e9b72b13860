/** The kind of `scrubPatterns`: built-in names and expressions, each checked before it meets any text. Pure. */
import { patternProblem } from '../scrub/check-pattern.js'
import { BUILT_INS } from '../scrub/patterns.js'
import type { Kind } from './kinds.js'
import { texts } from './kinds.js'
import { shown } from './shown.js'

const RULE = `a list of ${BUILT_INS.join(', ')} or regular expressions (in a variable: separated by commas, or JSON)`

export const scrubPatterns: Kind<readonly string[]> & { problem(value: unknown): string | undefined } = {
  rule: RULE,
  read: (value) => {
    const patterns = texts.read(value)
    return patterns?.every((pattern) => patternProblem(pattern) === undefined) === true ? patterns : undefined
  },
  parse: (value) => texts.parse(value),
  /** Which of them, and what is wrong with it. */
  problem: (value) => {
    for (const pattern of texts.read(value) ?? []) {
      const problem = patternProblem(pattern)
      if (problem !== undefined) return `${shown(pattern)} ${problem}`
    }
    return undefined
  },
}
