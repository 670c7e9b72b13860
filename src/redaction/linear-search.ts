/**
 * [worker] Finds all matches of an expression in time proportional to the text's length times the program's size.
 *
 * A loop of searches is not linear, even with RE2: each search of `a(?:.*z)?` reads to the end of the text before it
 * returns one letter. This search finds all matches in one pass: a Pike VM (https://swtch.com/~rsc/regexp/regexp2.html)
 * runs the program as `(?:(expression)|any character)*`, which gives the same matches as the loop.
 */
import { ALT, ALT_MATCH, EMPTY_WIDTH, FAIL, MATCH, RUNE } from './regex-program.js'
import type { Instruction, RegexProgram } from './regex-program.js'

/** The conditions of `EMPTY_WIDTH`: bits of its `arg`. */
const BEGIN_LINE = 1
const END_LINE = 2
const BEGIN_TEXT = 4
const END_TEXT = 8
const WORD_BOUNDARY = 16
const NO_WORD_BOUNDARY = 32

const ASCII = 128
const NEWLINE = 10

/** A match, linked to the match before it. */
interface LinkedMatch {
  readonly start: number
  readonly end: number
  readonly before: LinkedMatch | undefined
}

/** Threads at one position in the order of their priority: instruction, start of the match, last complete match. */
class Threads {
  readonly pcs: Int32Array
  readonly starts: Int32Array
  readonly lastMatches: (LinkedMatch | undefined)[] = []
  length = 0

  constructor(size: number) {
    this.pcs = new Int32Array(size)
    this.starts = new Int32Array(size)
  }
}

export class LinearSearch {
  readonly #program: RegexProgram
  readonly #hasConditions: boolean
  /** The ASCII characters that a match may start with. */
  readonly #first: readonly boolean[]
  /** For each instruction, the latest position for which it was added. */
  readonly #added: Int32Array
  readonly #stack: Int32Array
  #current: Threads
  #next: Threads

  constructor(program: RegexProgram) {
    const {
      instructions: { length },
    } = program
    const beginning = program.reachable([program.start])
    this.#program = program
    this.#hasConditions = program.instructions.some(({ op }) => op === EMPTY_WIDTH)
    this.#first = Array.from({ length: ASCII }, (_, code) => beginning.some((pc) => program.accepts(pc, code)))
    this.#added = new Int32Array(length)
    this.#stack = new Int32Array(length + 1)
    this.#current = new Threads(length)
    this.#next = new Threads(length)
  }

  /** All matches from left to right, the same as repeated searches would find. */
  matches(text: string): { readonly start: number; readonly end: number }[] {
    const program = this.#program
    const { length } = text
    this.#added.fill(-1)
    let found: LinkedMatch | undefined
    let isIdle = true
    for (let at = 0; ;) {
      if (isIdle) {
        while (at < length && this.#first[text.charCodeAt(at)] === false) at += 1
        this.#current.length = 0
        this.#add(this.#current, program.start, at, found, this.#conditions(text, at), at)
      }
      if (at >= length) break
      const code = text.codePointAt(at) as number
      at += code > 0xffff ? 2 : 1
      const current = this.#current
      const next = this.#next
      next.length = 0
      const holding = this.#conditions(text, at)
      let matched: LinkedMatch | undefined
      for (let thread = 0; thread < current.length && matched === undefined; thread += 1) {
        const pc = current.pcs[thread] as number
        if (!program.accepts(pc, code)) continue
        matched = this.#add(
          next,
          (program.instructions[pc] as Instruction).out,
          current.starts[thread] as number,
          current.lastMatches[thread],
          holding,
          at,
        )
      }
      // Threads with a lower priority than the match end.
      found = matched ?? found
      isIdle = next.length === 0
      if (!isIdle) this.#add(next, program.start, at, found, holding, at)
      this.#current = next
      this.#next = current
    }
    const matches = []
    for (let match = found; match !== undefined; match = match.before) matches.push(match)
    return matches.toReversed()
  }

  /** Adds the threads reachable from `from` without consuming a character; returns a completed match. */
  #add(
    threads: Threads,
    from: number,
    start: number,
    found: LinkedMatch | undefined,
    holding: number,
    at: number,
  ): LinkedMatch | undefined {
    const { instructions } = this.#program
    const stack = this.#stack
    let depth = 0
    stack[depth++] = from
    while (depth > 0) {
      const pc = stack[--depth] as number
      if (this.#added[pc] === at) continue
      this.#added[pc] = at
      const { op, out, arg } = instructions[pc] as Instruction
      if (op >= RUNE) {
        threads.pcs[threads.length] = pc
        threads.starts[threads.length] = start
        threads.lastMatches[threads.length] = found
        threads.length += 1
      } else if (op === MATCH) return { start, end: at, before: found }
      else if (op === ALT || op === ALT_MATCH) {
        stack[depth++] = arg
        stack[depth++] = out
      } else if (op !== FAIL && (op !== EMPTY_WIDTH || (arg & ~holding) === 0)) stack[depth++] = out
    }
    return undefined
  }

  /** The conditions that hold at a position, as defined by ECMAScript: RE2 ends lines only at a newline. */
  #conditions(text: string, at: number): number {
    if (!this.#hasConditions) return 0
    const before = at === 0 ? NEWLINE : text.charCodeAt(at - 1)
    const after = at === text.length ? NEWLINE : text.charCodeAt(at)
    return (
      (at === 0 ? BEGIN_TEXT : 0) |
      (at === text.length ? END_TEXT : 0) |
      (isLineEnd(before) ? BEGIN_LINE : 0) |
      (isLineEnd(after) ? END_LINE : 0) |
      (isWordCharacter(before) === isWordCharacter(after) ? NO_WORD_BOUNDARY : WORD_BOUNDARY)
    )
  }
}

function isLineEnd(code: number): boolean {
  return code === NEWLINE || code === 13 || code === 0x2028 || code === 0x2029
}

function isWordCharacter(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95
}
