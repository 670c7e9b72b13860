/**
 * Checks a custom pattern. It must be a valid regular expression within the size limit, must not match empty text, and
 * must not be a misspelled built-in name or a field path.
 */
import { compileExpression } from './custom-pattern.js'

const MAX_CHARS = 1_000
/** Limits the CPU time of one search in the worst text of 8,000 characters to 0.5 s. */
const MAX_INSTRUCTIONS = 1_500

/** `a.b`, `*.b`, `a[*].b`, `["a-b"].c`: names joined by dots, with brackets. */
const PATH =
  /^(?:[A-Za-z_$][\w$]*|\*|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])(?:\.(?:[A-Za-z_$][\w$]*|\*)|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])+$/
/** One name, then anything: `sk_live_.*` is an expression. */
const WORD_AND_ANYTHING = /^[A-Za-z_$][\w$]*\.\*$/
/** Names of fields. As an expression, such a word would be removed from sentences while the field's value is kept. */
const FIELD =
  /^(?:pass(?:word|wd|phrase)|pwd|secret|(?:access|auth|refresh|id)?_?token|api_?key|client_?secret|authorization|cookie|credentials?|private_?key)$/i

/**
 * The problem, as text to append to the expression; or the size of the compiled program, to which its run time is
 * proportional.
 */
export type ExpressionCheck =
  | { readonly problem: string }
  | { readonly problem?: undefined; readonly instructions: number }

/** @param pattern not the name of a built-in pattern */
export function checkExpression(pattern: string): ExpressionCheck {
  if (pattern === '') return { problem: 'is empty' }
  if (pattern.length > MAX_CHARS) return { problem: `has ${pattern.length} characters, the limit is ${MAX_CHARS}` }
  if (PATH.test(pattern) && !WORD_AND_ANYTHING.test(pattern)) {
    return {
      problem: `looks like a path; for paths use pino's \`redact: [${JSON.stringify(pattern)}]\` (write \\. for a literal dot)`,
    }
  }
  if (FIELD.test(pattern)) return { problem: `is the name of a field; add it to \`scrub.keys\`` }
  try {
    const expression = compileExpression(pattern)
    if (['', 'a'].some((text) => [...expression.matchAll(text)].some(([match]) => match === '')))
      return { problem: 'matches empty text' }
    const instructions = expression.programSize()
    if (instructions <= MAX_INSTRUCTIONS) return { instructions }
    return {
      problem: `is too large: it compiles to ${instructions} instructions, the limit is ${MAX_INSTRUCTIONS}; write * or + for long repetitions, as in {1,500}`,
    }
  } catch (error) {
    const reason = (error as Error).message.replace('error parsing regexp: ', '')
    return { problem: `cannot be used as a regular expression: ${reason}` }
  }
}
