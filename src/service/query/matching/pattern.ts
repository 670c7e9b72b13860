/** Compiles regular expressions of queries with re2js, and limits their size and time. */
import loadRe2 from '../../../shared/load-re2.cjs'
import { IngestServiceError } from '../../ingest-service-error.js'
import type { QueryValue } from '../language/query-node.js'
import { QueryProblemError } from '../language/query-node.js'

/** Limits the program size, because the time per character can be proportional to it. */
const MAX_INSTRUCTIONS = 1000
export const MAX_PATTERN_MS = 2000

export interface Pattern {
  readonly test: (text: string) => boolean
  /** A lower-case text that every match contains; empty if there is none. */
  readonly literal: string
}

/** Measures and limits the time that the regular expressions of one query take. */
export class PatternBudget {
  readonly #limitMs: number
  #spentMs = 0

  /** @param limitMs Infinity for a stream, which has no end */
  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** @throws IngestServiceError `QUERY` with the position of the expression */
  measure({ start, end }: Part, work: () => boolean): boolean {
    const startedMs = performance.now()
    const result = work()
    this.#spentMs += performance.now() - startedMs
    if (this.#spentMs <= this.#limitMs) return result
    const message = `the regular expression takes more than ${this.#limitMs / 1000} s; add a field or a time range to the query`
    throw new IngestServiceError('QUERY', message, undefined, { position: start, length: end - start })
  }
}

interface Part {
  readonly start: number
  readonly end: number
}

/** @throws QueryProblemError */
export function compilePattern(value: QueryValue & { readonly kind: 'pattern' }): Pattern {
  const { source, ignoresCase } = value
  const engine = loadRe2()
  try {
    const compiled = engine.compile(source, ignoresCase ? engine.CASE_INSENSITIVE : 0)
    if (compiled.programSize() > MAX_INSTRUCTIONS) throw new SyntaxError('the repetition is too large; use * or +')
    const isFolded = ignoresCase || /\(\?[a-zA-Z-]*i/.test(source)
    const literal = findLiteral(source, isFolded)
    const lower = literal.toLowerCase()
    // Searches for the literal first, which takes a fraction of the time.
    const test = isFolded
      ? (text: string) => text.toLowerCase().includes(lower) && compiled.test(text)
      : (text: string) => text.includes(literal) && compiled.test(text)
    return { test: literal === '' ? (text) => compiled.test(text) : test, literal: lower }
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, '')
    throw new QueryProblemError(`invalid regular expression: ${reason}`, value.start, value.end)
  }
}

/** An escape, a class, a number of repetitions, or one character. */
const TOKEN = /\\[^]|\[\^?\]?(?:\\[^]|\[:\w+:\]|[^\]\\])*\]|\{[^}]*\}|[^]/g
/** Escapes with further characters: `\x41`, `\pL`, `\Q…\E`. */
const LONG_ESCAPE = /\\[^dDwWsSbBAz\W]/
const SPECIAL = /[\\^$.*+?()[\]{}|]/
/** Letters with more than two case variants: `ſ` is an s, the Kelvin sign a k. */
const FOLDED = /[ks]/i

/**
 * Finds a text that every match contains. Searching for it first is many times faster.
 * @param isFolded whether any part of the expression ignores case
 * @returns the longest required text outside of groups; empty if there is none
 */
export function findLiteral(source: string, isFolded: boolean): string {
  if (LONG_ESCAPE.test(source)) return ''
  let [longest, run, depth] = ['', '', 0]
  for (const [token] of source.matchAll(TOKEN)) {
    if (token === '|' && depth === 0) return ''
    depth += token === '(' ? 1 : token === ')' ? -1 : 0
    const text = token.replace(/^\\(?=\W)/, '')
    const isText = depth === 0 && text.length === 1 && (text !== token || !SPECIAL.test(text)) && text <= '~'
    if (isText && !(isFolded && FOLDED.test(text))) run += text
    else {
      // `*`, `?` and `{` can make the previous character optional.
      if (/^[*?{]/.test(token)) run = run.slice(0, -1)
      if (run.length > longest.length) longest = run
      run = ''
    }
  }
  return run.length > longest.length ? run : longest
}
