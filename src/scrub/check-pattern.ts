/**
 * Whether an expression may be let loose on logged text, which anybody may have written: valid, no path, never empty, and never
 * slow. `redos-detector` follows all ways through the expression from one beginning, and where it finds too many, `ambiguity.ts` asks
 * whether they grow with the text; `rereading.ts` asks about many beginnings.
 */
import { isSafePattern } from 'redos-detector'
import { ambiguityOf } from './ambiguity.js'
import { expressionOf, mayBeEmpty, partsOf } from './expression.js'
import type { Expression, Group } from './expression.js'
import { BUILT_INS } from './patterns.js'
import { rereadCharacter } from './rereading.js'
import { simplified } from './simplified.js'

const MAX_CHARS = 1_000
/** Ways in which one beginning may be read; each costs its own time. */
const MAX_WAYS = 200
/** Enough for nearly every harmless expression. */
const FIRST_STEPS = 1_000
/** A bound that does not depend on the machine; harmless expressions take up to 3,000. */
const MAX_STEPS = 4_000
/** Should a step be slow: a wrong no is better than a start that hangs. */
const ANALYSIS_MS = 3_000

/** `a.b`, `*.b`, `a[*].b`, `["a-b"].c`: names joined by dots, with brackets. */
const PATH = /^(?:[A-Za-z_$][\w$]*|\*|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])(?:\.(?:[A-Za-z_$][\w$]*|\*)|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])+$/
/** One name, then anything: `sk_live_.*` is an expression. */
const WORD_AND_ANYTHING = /^[A-Za-z_$][\w$]*\.\*$/
/** As an expression this would take the word out of sentences, and leave what it names. */
const FIELD = /^(?:pass(?:word|wd|phrase)|pwd|secret|(?:access|auth|refresh|id)?_?token|api_?key|client_?secret|authorization|cookie|credentials?|private_?key)$/i

/** The engine repeats the expression, which is shown already. */
const PREFIX = /^Invalid regular expression: (?:\/[^]*\/[a-z]*: )?/

/** What is wrong with a custom pattern, to be read after its name; undefined where it may be used. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern === '') return 'is empty'
  if (pattern.length > MAX_CHARS) return `has ${pattern.length} characters, at most ${MAX_CHARS} can be checked`
  if ((BUILT_INS as readonly string[]).includes(pattern)) return undefined
  const builtIn = BUILT_INS.find((name) => sameLetters(name) === sameLetters(pattern))
  if (builtIn !== undefined) return `is no built-in pattern, did you mean ${builtIn}?`
  if (PATH.test(pattern) && !WORD_AND_ANYTHING.test(pattern)) {
    return `looks like a path; paths are pino's own \`redact: [${JSON.stringify(pattern)}]\` (a dot in text is \\.)`
  }
  if (FIELD.test(pattern)) return `is the name of a field; fields are pino's own \`redact: [${JSON.stringify(pattern)}]\``
  let expression: Expression
  try {
    expression = expressionOf(pattern)
  } catch (error) {
    return `is no regular expression: ${(error as Error).message.replace(PREFIX, '')}`
  }
  const parts = partsOf(expression)
  if (mayBeEmpty(parts)) return 'matches empty text, which is everywhere'
  return backtrackingProblem(expression, parts) ?? rereadingProblem(rereadCharacter(expression, parts))
}

function sameLetters(name: string): string {
  return name.toLowerCase().replace(/[-_ ]|s$/g, '')
}

function backtrackingProblem(expression: Expression, parts: Group): string | undefined {
  try {
    if (analysed(expression, FIRST_STEPS) === 'safe') return undefined
    const ambiguity = ambiguityOf(expression, parts)
    const outcome = ambiguity === 'unknown' ? analysed(expression, MAX_STEPS) : ambiguity
    if (outcome === 'safe' || outcome === 'few') return undefined
    return outcome === 'timedOut'
      ? 'takes too long to be checked for catastrophic backtracking'
      : 'may backtrack catastrophically: there are too many ways to match the same text'
  } catch {
    return 'cannot be checked for catastrophic backtracking: it uses what the check does not know'
  }
}

function analysed({ source, flags }: Expression, maxSteps: number): 'safe' | 'timedOut' | 'unsafe' {
  // Anchored: from one beginning.
  const { error } = isSafePattern(`^(?:${simplified(source)})`, {
    maxScore: MAX_WAYS, maxSteps, timeout: ANALYSIS_MS,
    caseInsensitive: flags.includes('i'), dotAll: flags.includes('s'), multiLine: false, unicode: flags.includes('u'),
  })
  return error === null ? 'safe' : error === 'timedOut' ? 'timedOut' : 'unsafe'
}

function rereadingProblem(character: string | undefined): string | undefined {
  if (character === undefined) return undefined
  return `may take the square of a text's length, as for ${JSON.stringify(character.repeat(3)).replace(/"$/, '…"')}`
    + ' (bound its first repetition, as in {1,64}, or begin with what cannot repeat)'
}
