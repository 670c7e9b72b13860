/** An expression compiled by `re2js`: a program of instructions that consume a character, branch or end a match. */

/** The used part of re2js's internal `Prog`. Because it is internal, package.json pins the version of re2js. */
export interface CompiledProgram {
  readonly inst: readonly Instruction[]
  readonly start: number
}

export interface Instruction {
  readonly op: number
  readonly out: number
  readonly arg: number
  matchRune(codePoint: number): boolean
}

/** The operations of re2js's `Inst`; those from `RUNE` on consume a character. */
export const ALT = 1
export const ALT_MATCH = 2
export const EMPTY_WIDTH = 4
export const FAIL = 5
export const MATCH = 6
export const RUNE = 8
const RUNE_ANY = 10
const RUNE_ANY_NOT_NL = 11

const ASCII = 128
const NEWLINE = 10

export class RegexProgram {
  readonly start: number
  readonly instructions: readonly Instruction[]
  /** 128 items per instruction: 1 for each ASCII character that it accepts. */
  readonly #ascii: Uint8Array

  constructor(compiled: CompiledProgram) {
    const { inst, start } = compiled
    this.start = start
    this.instructions = inst
    this.#ascii = Uint8Array.from({ length: inst.length * ASCII }, (_, at) =>
      matches(inst[Math.floor(at / ASCII)] as Instruction, at % ASCII) ? 1 : 0,
    )
  }

  accepts(pc: number, codePoint: number): boolean {
    if (codePoint < ASCII) return this.#ascii[pc * ASCII + codePoint] === 1
    return matches(this.instructions[pc] as Instruction, codePoint)
  }

  /**
   * The consuming and matching instructions reachable without consuming a character, if every `^`, `$` and `\b` holds.
   */
  reachable(from: Iterable<number>): number[] {
    const seen = new Set(from)
    const found: number[] = []
    for (const pc of seen) {
      const { op, out, arg } = this.instructions[pc] as Instruction
      if (op >= RUNE || op === MATCH) found.push(pc)
      else if (op !== FAIL) {
        seen.add(out)
        if (op === ALT || op === ALT_MATCH) seen.add(arg)
      }
    }
    return found
  }

  isMatch(pc: number): boolean {
    return this.instructions[pc]?.op === MATCH
  }

  /** Whether the expression can match empty text. */
  get mayBeEmpty(): boolean {
    return this.reachable([this.start]).some((pc) => this.isMatch(pc))
  }
}

function matches(instruction: Instruction, codePoint: number): boolean {
  if (instruction.op < RUNE) return false
  return (
    instruction.op === RUNE_ANY ||
    (instruction.op === RUNE_ANY_NOT_NL ? codePoint !== NEWLINE : instruction.matchRune(codePoint))
  )
}
