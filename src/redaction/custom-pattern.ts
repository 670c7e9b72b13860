/**
 * [worker] Custom expressions. re2js compiles them, in a syntax that needs no backtracking. Its automaton rejects texts
 * without a match, which are most. `LinearSearch` finds the matches in the other texts, because a loop of re2js
 * searches is not linear: `a(?:.*z)?` takes 1.5 s for 8,000 characters and 22 s for 32,000; `LinearSearch` takes 0.02 s
 * for both.
 */
import { LinearSearch } from './linear-search.js'
import loadRe2 from './load-re2.cjs'
import { parseExpression } from './parse-expression.js'
import { RegexProgram } from './regex-program.js'
import type { CompiledProgram } from './regex-program.js'

export interface CompiledExpression {
  readonly program: RegexProgram
  /** Returns false only if the text has no match; it may return true without one. Takes time linear in the text's length. */
  readonly mayMatch: (text: string) => boolean
}

/**
 * @param text an expression's source, or `/source/flags`
 * @throws SyntaxError with the reason
 */
export function compileExpression(text: string): CompiledExpression {
  const { source, ignoresCase, isMultiline } = parseExpression(text)
  const engine = loadRe2()
  try {
    const compiled = engine.compile(
      source,
      (ignoresCase ? engine.CASE_INSENSITIVE : 0) | (isMultiline ? engine.MULTILINE : 0),
    )
    // re2js ends a line only at a newline; JavaScript also ends it at `\r`, U+2028 and U+2029.
    const mayMatch = isMultiline ? () => true : (one: string) => compiled.test(one)
    return { program: new RegexProgram(compiled.re2().prog as CompiledProgram), mayMatch }
  } catch (error) {
    throw new SyntaxError(formatReason(error as Error), { cause: error })
  }
}

/** Rewrites the messages of re2js that quote the translated source. */
function formatReason({ message }: Error): string {
  if (/repeat count|too large/.test(message))
    return 'it repeats a part more than 1,000 times; write * or +, or a smaller number'
  const property = /\\[pP]\{[^}]*\}/.exec(message)
  return property === null
    ? message.replace(/^error parsing regexp: /, '')
    : `RE2 has no ${property[0]}; write a category or a script, as in \\p{Lu}`
}

/** Replaces the matches of an expression. */
export class CustomPattern {
  readonly #search: LinearSearch
  readonly #mayMatch: (text: string) => boolean

  /** @throws SyntaxError */
  constructor(text: string) {
    const { program, mayMatch } = compileExpression(text)
    this.#search = new LinearSearch(program)
    this.#mayMatch = mayMatch
  }

  /** Replaces each match with `by`, except matches within the marker of a secret that was replaced before. */
  replace(text: string, by: string): string {
    if (!this.#mayMatch(text)) return text
    let clean = ''
    let copied = 0
    for (const { start, end } of this.#search.matches(text)) {
      if (isMarker(text, start, end)) continue
      clean += text.slice(copied, start) + by
      copied = end
    }
    return clean + text.slice(copied)
  }
}

const MARKERS = ['[email]', '[creditCard]', '[ssn]', '[bearer]', '[scrubbed]', '[removed]']
const MAX_MARKER_CHARS = Math.max(...MARKERS.map((marker) => marker.length))

/** Whether a match is within a marker. */
function isMarker(text: string, start: number, end: number): boolean {
  if (end - start > MAX_MARKER_CHARS) return false
  const least = Math.max(0, start - MAX_MARKER_CHARS)
  const open = least + text.slice(least, start + 1).lastIndexOf('[')
  return open >= least && MARKERS.some((marker) => text.startsWith(marker, open) && open + marker.length >= end)
}
