/**
 * [worker] Whether a text may match: a deterministic automaton, made as texts need it, that takes every `^`, `$` and `\b` to hold.
 * It reads a line of 270 bytes in about 1 us, `LinearSearch` in 1 to 20 us, and most lines hold nothing to replace.
 */
import type { RegexProgram } from './regex-program.js'

/**
 * Adversarial text must not make the filter slower than the search: at most one new transition per 32 characters, after an initial budget
 * that shrinks with the program's size. A new transition takes about ten times as long as `LinearSearch` takes for a character.
 */
const CHARS_PER_TRANSITION = 32
const MAX_TRANSITION_BUDGET = 50_000
/** Of at most 9 KiB each. */
const MAX_STATES = 256
const MAX_TRANSITIONS = 16_384

interface State {
  /** Sorted. */
  readonly pcs: readonly number[]
  /** By the character's code point. */
  readonly next: Map<number, State>
  /** The same for ASCII, where it is known. */
  readonly nextAscii: (State | undefined)[]
}

const MATCHED: State = { pcs: [], next: new Map(), nextAscii: [] }

export class Prefilter {
  readonly #program: RegexProgram
  readonly #states = new Map<string, State>()
  readonly #maxTransitionBudget: number
  #transitionBudget: number
  #transitions = 0
  #start: State

  constructor(program: RegexProgram) {
    this.#program = program
    this.#transitionBudget = this.#maxTransitionBudget = MAX_TRANSITION_BUDGET / program.instructions.length
    this.#start = this.#stateFor([])
  }

  /** May return false positives, never false negatives. */
  mayMatch(text: string): boolean {
    let state = this.#start
    this.#transitionBudget = Math.min(
      this.#maxTransitionBudget,
      this.#transitionBudget + text.length / CHARS_PER_TRANSITION,
    )
    for (let at = 0; at < text.length; at += 1) {
      let code = text.charCodeAt(at)
      let next = state.nextAscii[code]
      if (next === undefined) {
        code = text.codePointAt(at) as number
        if (code > 0xffff) at += 1
        next = state.next.get(code)
        if (next === undefined) {
          if (this.#transitionBudget < 1) return true
          this.#transitionBudget -= 1
          next = this.#step(state, code)
        }
      }
      if (next === MATCHED) return true
      state = next
    }
    return false
  }

  #step(state: State, code: number): State {
    if ((this.#transitions += 1) > MAX_TRANSITIONS || this.#states.size > MAX_STATES) {
      this.#states.clear()
      this.#transitions = 0
      this.#start = this.#stateFor([])
    }
    const next = this.#stateFor(
      state.pcs.filter((pc) => this.#program.accepts(pc, code)).map((pc) => this.#program.instructions[pc]?.out ?? 0),
    )
    if (code < 128) state.nextAscii[code] = next
    else state.next.set(code, next)
    return next
  }

  /** The state in which these instructions are next, and a match may also begin. */
  #stateFor(after: readonly number[]): State {
    const pcs = this.#program.reachable([...after, this.#program.start])
    if (pcs.some((pc) => this.#program.isMatch(pc))) return MATCHED
    const key = pcs.toSorted((one, other) => one - other).join()
    let state = this.#states.get(key)
    if (state === undefined)
      this.#states.set(key, (state = { pcs, next: new Map(), nextAscii: Array.from({ length: 128 }) }))
    return state
  }
}
