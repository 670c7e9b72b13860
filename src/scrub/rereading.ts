/**
 * Finds expressions that read the same text again from every position: `\s+$` tries each space of a long run as its beginning,
 * and reads on to the end of the run from each, which takes the square of the run's length. (What happens from one beginning
 * is `check-pattern.ts`'s other question.)
 *
 * For one character after the other: over a run of it, may an attempt begin anywhere, read without bound, and fail? What a part
 * does with the character is asked of the engine itself.
 */
import { sampleCharacters } from './expression.js'
import type { Expression, Group, Part } from './expression.js'

/** A bound so high is none: 1,000 steps for each of a million characters are a second. */
const UNBOUNDED_FROM = 1_000
/** Longer than any bound below it, and the middle is asked. */
const RUN_CHARS = 4 * UNBOUNDED_FROM
const MIDDLE = RUN_CHARS / 2

/** A character of which a long run takes the square of its length, or undefined. */
export function rereadCharacter(expression: Expression, parts: Group): string | undefined {
  const asked = new Map<string, RegExp | undefined>()
  for (const character of sampleCharacters(expression)) {
    const run = new Run(character, expression.flags, asked)
    if (run.readsLong(parts) && run.mayFail(expression)) return character
  }
  return undefined
}

interface Reading {
  /** What follows may be reached within the run. */
  readonly passes: boolean
  /** Characters may be taken. */
  readonly takes: boolean
  /** More of them than `UNBOUNDED_FROM`. */
  readonly isLong: boolean
}

const NOTHING: Reading = { passes: true, takes: false, isLong: false }

class Run {
  readonly #text: string
  readonly #character: string
  readonly #flags: string
  readonly #asked: Map<string, RegExp | undefined>

  constructor(character: string, flags: string, asked: Map<string, RegExp | undefined>) {
    this.#character = character
    this.#text = character.repeat(RUN_CHARS / character.length)
    this.#flags = flags
    this.#asked = asked
  }

  readsLong(parts: Group): boolean {
    return this.#readGroup(parts, false).isLong
  }

  #read(parts: readonly Part[]): Reading {
    let takes = false
    let isLong = false
    for (const part of parts) {
      const reading = this.#readPart(part)
      takes ||= reading.takes
      isLong ||= reading.isLong
      if (!reading.passes) return { passes: false, takes, isLong }
    }
    return { passes: true, takes, isLong }
  }

  /** Whether an attempt in the middle of the run comes to little, with the run's end or another character behind it. */
  mayFail({ source }: Expression): boolean {
    const sticky = new RegExp(source, `y${this.#flags}`)
    return ['', '\0', 'x', '\n', ' '].some((after) => {
      sticky.lastIndex = MIDDLE
      const taken = sticky.exec(this.#text + (after === this.#character ? '' : after))?.[0]
      return taken === undefined || taken.length < UNBOUNDED_FROM
    })
  }

  #readPart(part: Part): Reading {
    switch (part.kind) {
      case 'character': {
        const matches = this.#asks(part.source)
        return { passes: matches, takes: matches, isLong: false }
      }
      case 'reference': return NOTHING
      case 'assertion': {
        const passes = this.#asks(part.source)
        if (part.body === undefined) return { passes, takes: false, isLong: false }
        const { isLong } = this.#readGroup(part.body, part.isBehind === true)
        return { passes, takes: false, isLong }
      }
      case 'repeat': {
        const of = this.#readPart(part.of)
        if (part.most === 0) return NOTHING
        return { passes: part.least === 0 || of.passes, takes: of.takes, isLong: of.isLong || (of.takes && of.passes && part.most >= UNBOUNDED_FROM) }
      }
      case 'group': return this.#readGroup(part, false)
    }
  }

  #readGroup(group: Group, isBehind: boolean): Reading {
    // What looks behind reads from its end.
    const readings = group.alternatives.map((parts) => this.#read(isBehind ? parts.toReversed() : parts))
    return {
      passes: readings.some(({ passes }) => passes), takes: readings.some(({ takes }) => takes), isLong: readings.some(({ isLong }) => isLong),
    }
  }

  /** Whether this part alone matches in the middle of the run. */
  #asks(source: string): boolean {
    let sticky = this.#asked.get(source)
    if (sticky === undefined && !this.#asked.has(source)) this.#asked.set(source, (sticky = stickyOf(source, this.#flags)))
    if (sticky === undefined) return true
    sticky.lastIndex = MIDDLE
    return sticky.test(this.#text)
  }
}

/** Undefined for what refers to another part of the expression, and cannot stand alone. */
function stickyOf(source: string, flags: string): RegExp | undefined {
  try {
    return new RegExp(source, `y${flags}`)
  } catch {
    return undefined
  }
}
