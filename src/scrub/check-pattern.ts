/**
 * Whether an expression may be let loose on logged text, which anybody may have written: valid, no path, never empty, and never
 * slow. `redos-detector` follows all ways through the expression from one beginning; `rereading.ts` asks about many beginnings.
 */
import { isSafePattern } from 'redos-detector'
import { expressionOf, mayBeEmpty, partsOf } from './expression.js'
import type { Expression } from './expression.js'
import { BUILT_INS } from './patterns.js'
import { rereadCharacter } from './rereading.js'
import { simplified } from './simplified.js'

const MAX_CHARS = 1_000
/** Ways in which one beginning may be read; each costs its own time. */
const MAX_WAYS = 200
/** A bound that does not depend on the machine; harmless expressions take up to 3,000. */
const MAX_STEPS = 4_000
/** Should a step be slow: a wrong no is better than a start that hangs. */
const ANALYSIS_MS = 10_000

/** `a.b`, `*.b`, `a[*].b`, `["a-b"].c`: names joined by dots, with brackets. */
const PATH = /^(?:[A-Za-z_$][\w$]*|\*|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])(?:\.(?:[A-Za-z_$][\w$]*|\*)|\[(?:\*|\d+|"[^"\]]*"|'[^'\]]*')\])+$/
/** One name, then anything: `sk_live_.*` is an expression. */
const WORD_AND_ANYTHING = /^[A-Za-z_$][\w$]*\.\*$/
/** As an expression this would take the word out of sentences, and leave what it names. */
const FIELD = /^(?:pass(?:word|wd|phrase)|pwd|secret|(?:access|auth|refresh|id)?_?token|api_?key|client_?secret|authorization|cookie|credentials?|private_?key)$/i

/** What is wrong with a custom pattern, to be read after its name; undefined where it may be used. */
export function patternProblem(pattern: string): string | undefined {
  if (pattern === '') return 'is empty'
  if ((BUILT_INS as readonly string[]).includes(pattern)) return undefined
  const builtIn = BUILT_INS.find((name) => sameLetters(name) === sameLetters(pattern))
  if (builtIn !== undefined) return `is no built-in pattern, did you mean ${builtIn}?`
  if (PATH.test(pattern) && !WORD_AND_ANYTHING.test(pattern)) {
    return `looks like a path; paths are pino's own \`redact: [${JSON.stringify(pattern)}]\` (a dot in text is \\.)`
  }
  if (FIELD.test(pattern)) return `is the name of a field; fields are pino's own \`redact: [${JSON.stringify(pattern)}]\``
  if (pattern.length > MAX_CHARS) return `has ${pattern.length} characters, at most ${MAX_CHARS} can be checked`
  let expression: Expression
  try {
    expression = expressionOf(pattern)
  } catch (error) {
    return `is no regular expression (${(error as Error).message})`
  }
  const parts = partsOf(expression)
  if (mayBeEmpty(parts)) return 'matches empty text, which is everywhere'
  return backtrackingProblem(expression) ?? rereadingProblem(rereadCharacter(expression, parts))
}

function sameLetters(name: string): string {
  return name.toLowerCase().replace(/[-_ ]|s$/g, '')
}

function backtrackingProblem({ source, flags }: Expression): string | undefined {
  let result: ReturnType<typeof isSafePattern>
  try {
    // Anchored: from one beginning.
    result = isSafePattern(`^(?:${simplified(source)})`, {
      maxScore: MAX_WAYS, maxSteps: MAX_STEPS, timeout: ANALYSIS_MS,
      caseInsensitive: flags.includes('i'), dotAll: flags.includes('s'), multiLine: false, unicode: flags.includes('u'),
    })
  } catch {
    return 'cannot be checked for catastrophic backtracking: it uses what the check does not know'
  }
  if (result.safe) return undefined
  return result.error === 'timedOut'
    ? 'takes too long to be checked for catastrophic backtracking'
    : 'may backtrack catastrophically: there are too many ways to match the same text'
}

function rereadingProblem(character: string | undefined): string | undefined {
  if (character === undefined) return undefined
  return `may take the square of a text's length, as for ${JSON.stringify(character.repeat(3)).replace(/"$/, '…"')}`
    + ' (bound its first repetition, as in {1,64}, or begin with what cannot repeat)'
}
