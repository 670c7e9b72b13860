/** Accepts a pattern that is a valid regular expression, is not a misspelled name or a field path, cannot match empty text, and is within the size limit. */
import { compileExpression } from './custom-pattern.js'

const MAX_CHARS = 1_000
/** At most 0.5 s of CPU for 8,000 characters of the worst text: 0.3 s on an idle machine. */
const MAX_INSTRUCTIONS = 1_500

/** `a.b`, `*.b`, `a[*].b`, `["a-b"].c`: names joined by dots, with brackets. */
const PATH =
  /^(?:[A-Za-z_$][\w$]*|\*|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])(?:\.(?:[A-Za-z_$][\w$]*|\*)|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])+$/
/** One name, then anything: `sk_live_.*` is an expression. */
const WORD_AND_ANYTHING = /^[A-Za-z_$][\w$]*\.\*$/
/** As an expression this would take the word out of sentences, and leave what it names. */
const FIELD =
  /^(?:pass(?:word|wd|phrase)|pwd|secret|(?:access|auth|refresh|id)?_?token|api_?key|client_?secret|authorization|cookie|credentials?|private_?key)$/i

/** The engine repeats the expression, which is shown already. */
const PREFIX = /^Invalid regular expression: (?:\/[^]*\/[a-z]*: )?/

/** What is wrong, to be read after the expression; or its size as a program, which its time grows with. */
export type ExpressionCheck =
  | { readonly problem: string }
  | { readonly problem?: undefined; readonly instructions: number }

/** @param pattern no name of a built-in pattern */
export function checkExpression(pattern: string): ExpressionCheck {
  if (pattern === '') return { problem: 'is empty' }
  if (pattern.length > MAX_CHARS) return { problem: `has ${pattern.length} characters, the limit is ${MAX_CHARS}` }
  if (PATH.test(pattern) && !WORD_AND_ANYTHING.test(pattern)) {
    return {
      problem: `looks like a path; paths are pino's own \`redact: [${JSON.stringify(pattern)}]\` (a dot in text is \\.)`,
    }
  }
  if (FIELD.test(pattern))
    return { problem: `is the name of a field; fields are pino's own \`redact: [${JSON.stringify(pattern)}]\`` }
  try {
    const { program } = compileExpression(pattern)
    const instructions = program.instructions.length
    if (program.mayBeEmpty) return { problem: 'matches empty text, which is everywhere' }
    if (instructions <= MAX_INSTRUCTIONS) return { instructions }
    return {
      problem: `is too large: it compiles to ${instructions} instructions, the limit is ${MAX_INSTRUCTIONS}; write * or + for long repetitions, as in {1,500}`,
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return { problem: `cannot be used as a regular expression: ${error.message.replace(PREFIX, '')}` }
  }
}
