/** [worker] Custom expressions: compiled by re2js, whose syntax has nothing that needs backtracking, and run in linear time. */
import { parseExpression } from './parse-expression.js'
import { LinearSearch } from './linear-search.js'
import loadRe2 from './load-re2.cjs'
import { Prefilter } from './prefilter.js'
import { RegexProgram } from './regex-program.js'
import type { CompiledProgram } from './regex-program.js'

/**
 * @param text an expression's source, or `/source/flags`
 * @throws SyntaxError saying what is wrong with it.
 */
export function compileExpression(text: string): RegexProgram {
  const { source, ignoresCase, isMultiline } = parseExpression(text)
  const engine = loadRe2()
  try {
    const compiled = engine.compile(
      source,
      (ignoresCase ? engine.CASE_INSENSITIVE : 0) | (isMultiline ? engine.MULTILINE : 0),
    )
    return new RegexProgram(compiled.re2().prog as CompiledProgram)
  } catch (error) {
    throw new SyntaxError(reasonOf(error as Error), { cause: error })
  }
}

/** re2js's message, unless it quotes the translated source. */
function reasonOf({ message }: Error): string {
  if (/repeat count|too large/.test(message))
    return 'it repeats a part more than 1,000 times; write * or +, or a smaller number'
  const property = /\\[pP]\{[^}]*\}/.exec(message)
  return property === null
    ? message.replace(/^error parsing regexp: /, '')
    : `RE2 has no ${property[0]}; write a category or a script, as in \\p{Lu}`
}

/** Replaces the matches of an expression. */
export class CustomPattern {
  readonly #prefix: string
  readonly #search: LinearSearch
  readonly #prefilter: Prefilter

  /** @throws SyntaxError */
  constructor(text: string) {
    const program = compileExpression(text)
    this.#prefix = program.prefix
    this.#search = new LinearSearch(program)
    this.#prefilter = new Prefilter(program)
  }

  /** Replaces each match with `by`, except matches within the marker of a secret that was replaced before. */
  replace(text: string, by: string): string {
    if (!text.includes(this.#prefix) || !this.#prefilter.mayMatch(text)) return text
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

/** Whether a match lies within a marker. */
function isMarker(text: string, start: number, end: number): boolean {
  if (end - start > MAX_MARKER_CHARS) return false
  let open = start
  while (open > 0 && start - open < MAX_MARKER_CHARS && text[open] !== '[') open -= 1
  return MARKERS.some((marker) => text.startsWith(marker, open) && open + marker.length >= end)
}
