/** [worker] The user's expressions. re2js searches without backtracking, in time linear in the length of the text. */
import loadRe2 from '../shared/load-re2.cjs'

type Expression = ReturnType<ReturnType<typeof loadRe2>['compile']>

const LITERAL = /^\/((?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+)\/([a-z]*)$/is
const TOKEN = /\\[^]|\[(?:\\[^]|[^\]\\])*\]|\(\?<?[=!]|\$/g
const ESCAPE = /\\[^]/g
/** ECMAScript's white space, as members of a class; RE2's `\s` is ASCII only. */
const SPACES = String.raw`\s\v\pZ\x{feff}`

/**
 * @param text an expression's source in JavaScript's syntax, or `/source/flags`
 * @throws Error with the reason, if it is invalid or RE2 cannot match it in linear time
 */
export function compileExpression(text: string): Expression {
  const [, source = text, flags = ''] = LITERAL.exec(text) ?? []
  if (!/^[gimsu]*$/.test(flags)) throw new SyntaxError(`only the flags g, i, m, s and u are supported, not ${flags}`)
  const engine = loadRe2()
  const isMultiline = flags.includes('m')
  return engine.compile(
    engine.translateRegExp(translateRemainingSyntax(source, isMultiline)),
    (flags.includes('i') ? engine.CASE_INSENSITIVE : 0) |
      (flags.includes('s') ? engine.DOTALL : 0) |
      (isMultiline ? engine.MULTILINE : 0),
  )
}

/** Translates `\s` and `$`, which `translateRegExp` leaves unchanged, and refuses lookaround and named backreferences. */
function translateRemainingSyntax(source: string, isMultiline: boolean): string {
  return source.replace(TOKEN, (token) => {
    if (token.startsWith('(') || token === '\\k')
      throw new SyntaxError(`lookaround and backreferences are not supported, as in ${token}`)
    if (token === '\\s') return `[${SPACES}]`
    if (token === '\\S') return `[^${SPACES}]`
    if (token === '$') return isMultiline ? String.raw`(?:\r?$)` : token
    return token.startsWith('[') ? token.replace(ESCAPE, (escape) => (escape === '\\s' ? SPACES : escape)) : token
  })
}

/** The time that remains for the matches of one entry. */
export interface SearchTime {
  leftMs: number
}

/**
 * A search takes linear time, but many of them may each read to the end of the text: `a(?:.*z)?` takes 20 s for 32,000
 * letters. An entry of 512,000 characters with usual expressions takes less than a tenth of this time.
 */
export function createSearchTime(): SearchTime {
  return { leftMs: 1_000 }
}

export class CustomPattern {
  readonly #expression: Expression

  /** @throws Error, as `compileExpression` */
  constructor(text: string) {
    this.#expression = compileExpression(text)
  }

  /**
   * Replaces each match with `by`, except matches within the marker of a secret that was replaced before. When the time
   * is over, the next match and all text after it are replaced as one.
   */
  replace(text: string, by: string, time = createSearchTime()): string {
    // Rejects most texts with an automaton, which is faster than finding a match.
    if (!this.#expression.test(text)) return text
    const endMs = performance.now() + time.leftMs
    const matcher = this.#expression.matcher(text)
    let clean = ''
    let copied = 0
    while (copied < text.length && matcher.find()) {
      const [start, end] = [matcher.start(), matcher.end()]
      if (start === end || isMarker(text, start, end)) continue
      clean += text.slice(copied, start) + by
      copied = performance.now() < endMs ? end : text.length
    }
    time.leftMs = endMs - performance.now()
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
