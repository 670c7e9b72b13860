/**
 * A second opinion on backtracking, exact where it has one: over the automaton of an expression's characters (Glushkov's), does
 * the number of ways to read a text grow with the text? (A. Weber, H. Seidl: On the degree of ambiguity of finite automata,
 * 1991.) It does where a loop can be gone through in two ways with the same text, or where two loops can share a text in any
 * proportion. `redos-detector` also counts as ways what is soon refused, as `-----END` inside of `[^]*?-----END`.
 */
import { mayBeEmpty, partsOf, sampleCharacters, waysOf } from './expression.js'
import type { Expression, Group, Part } from './expression.js'
import { simplified } from './simplified.js'

/** Ways of what has a bound; each beginning may cost so many. */
const MAX_WAYS = 2_000
const MAX_POSITIONS = 150
const MAX_VISITED = 60_000

export type Ambiguity = 'few' | 'many' | 'unknown'

/** Whether the ways to read a text are few, however long it is. */
export function ambiguityOf(expression: Expression, parts: Group): Ambiguity {
  const ambiguity = growthOf(expression, partsOf({ source: simplified(expression.source) }))
  return ambiguity === 'few' && waysOf(parts, MAX_WAYS) > MAX_WAYS ? 'unknown' : ambiguity
}

function growthOf(expression: Expression, parts: Group): Ambiguity {
  const automaton = new Automaton(expression)
  const own = automaton.add(parts) ? automaton.ambiguity() : 'unknown'
  // What looks around is an expression of its own.
  const all = [own, ...automaton.bodies.map((body) => growthOf(expression, body))]
  return all.find((one) => one === 'many') ?? all.find((one) => one === 'unknown') ?? 'few'
}

/** A part of the automaton: where it may begin and end, and in how many ways it may be empty. */
interface Span {
  readonly first: ReadonlyMap<number, number>
  readonly last: ReadonlyMap<number, number>
  readonly empty: number
  /** Empty without an assertion, which might fail. */
  readonly isSurelyEmpty: boolean
  /** Those of `last` after which nothing can fail. */
  readonly sureLast: ReadonlySet<number>
}

const EMPTY: Span = { first: new Map(), last: new Map(), empty: 1, isSurelyEmpty: true, sureLast: new Set() }

class Automaton {
  /** Of what looks around. */
  readonly bodies: Group[] = []
  readonly #expression: Expression
  readonly #samples: readonly string[]
  /** By position: which samples it matches, 32 to a number. */
  readonly #matches: Uint32Array[] = []
  readonly #known = new Map<string, Uint32Array>()
  /** Ways from a position to the next one. */
  readonly #next: Map<number, number>[] = []
  /** After which nothing can fail any more. */
  #accepting: ReadonlySet<number> = new Set()
  #visited = 0

  constructor(expression: Expression) {
    this.#expression = expression
    this.#samples = sampleCharacters(expression)
  }

  /** False where there are too many positions. */
  add(group: Group): boolean {
    const span = this.#span(group)
    if (span === undefined) return false
    this.#accepting = span.sureLast
    return true
  }

  ambiguity(): Ambiguity {
    const loops = this.#next.map((_, position) => this.#reach(position))
    let isKnown = true
    for (const [p, reached] of loops.entries()) {
      if (!reached.has(p) || this.#accepting.has(p)) continue // where it may end, it does not come back
      const inLoop = (q: number): boolean => reached.has(q) && (loops[q] as Set<number>).has(p)
      const hasDouble = [...this.#next.entries()].some(([from, to]) => inLoop(from) && [...to].some(([q, ways]) => ways > 1 && inLoop(q)))
      const others = [...reached].filter((q) => q !== p && !this.#accepting.has(q) && (loops[q] as Set<number>).has(q))
      const answers = [hasDouble, this.#hasTwoWaysRound(p), ...others.map((q) => this.#sharesText(p, q))]
      if (answers.includes(true)) return 'many'
      isKnown &&= !answers.includes(undefined)
    }
    return isKnown ? 'few' : 'unknown'
  }

  /** Two different ways from `p` to `p` with the same text. */
  #hasTwoWaysRound(p: number): boolean | undefined {
    // A third part tells whether the two have parted.
    return this.#search([p, p, 0], [p, p, 1], (state) => this.#steps(state.slice(0, 2)).map((to) => [...to, state[2] === 1 || to[0] !== to[1] ? 1 : 0]))
  }

  /** A text that leads from `p` to `p`, from `p` to `q` and from `q` to `q`. */
  #sharesText(p: number, q: number): boolean | undefined {
    return this.#search([p, p, q], [p, q, q], (state) => this.#steps(state))
  }

  /** Undefined where the search was given up. */
  #search(from: readonly number[], to: readonly number[], next: (state: readonly number[]) => readonly (readonly number[])[]): boolean | undefined {
    const seen = new Set<string>()
    const target = to.join()
    const open = [from]
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      for (const one of next(state)) {
        const name = one.join()
        if (name === target) return true
        if (seen.has(name)) continue
        if (this.#visited === MAX_VISITED) return undefined
        this.#visited += 1
        seen.add(name)
        open.push(one)
      }
    }
    return false
  }

  /** Where several readers may be after the same character. */
  #steps(state: readonly number[]): number[][] {
    let steps: { readonly to: number[], readonly samples: Uint32Array | undefined }[] = [{ to: [], samples: undefined }]
    for (const position of state) {
      steps = steps.flatMap(({ to, samples }) => [...(this.#next[position] as Map<number, number>).keys()].flatMap((next) => {
        const own = this.#matches[next] as Uint32Array
        const common = samples === undefined ? own : own.map((word, index) => word & (samples[index] as number))
        return common.some((word) => word !== 0) ? [{ to: [...to, next], samples: common }] : []
      }))
    }
    return steps.map(({ to }) => to)
  }

  #reach(from: number): Set<number> {
    const reached = new Set<number>()
    const open = [from]
    for (let position = open.pop(); position !== undefined; position = open.pop()) {
      for (const next of (this.#next[position] as Map<number, number>).keys()) {
        if (reached.has(next)) continue
        reached.add(next)
        open.push(next)
      }
    }
    return reached
  }

  #span(part: Part): Span | undefined {
    switch (part.kind) {
      case 'reference': return undefined
      case 'character': return this.#character(part.source)
      case 'assertion':
        if (part.body !== undefined) this.bodies.push(part.body)
        return { ...EMPTY, isSurelyEmpty: false }
      case 'group': {
        const spans = part.alternatives.map((parts) => this.#sequence(parts))
        return spans.includes(undefined) ? undefined : (spans as Span[]).reduce(either)
      }
      case 'repeat': return this.#repeat(part)
    }
  }

  #character(source: string): Span | undefined {
    if (this.#matches.length === MAX_POSITIONS) return undefined
    const position = this.#matches.length
    let matches = this.#known.get(source)
    if (matches === undefined) {
      const regex = new RegExp(`^(?:${source})$`, this.#expression.flags)
      matches = new Uint32Array(Math.ceil(this.#samples.length / 32))
      for (const [index, sample] of this.#samples.entries()) if (regex.test(sample)) matches[index >> 5] = (matches[index >> 5] as number) | (1 << (index & 31))
      this.#known.set(source, matches)
    }
    this.#matches.push(matches)
    this.#next.push(new Map())
    const here = new Map([[position, 1]])
    return { first: here, last: here, empty: 0, isSurelyEmpty: false, sureLast: new Set([position]) }
  }

  #sequence(parts: readonly Part[]): Span | undefined {
    let span = EMPTY
    for (const part of parts) {
      const next = this.#span(part)
      if (next === undefined) return undefined
      span = this.#then(span, next)
    }
    return span
  }

  #repeat({ of, least, most }: Extract<Part, { kind: 'repeat' }>): Span | undefined {
    if (most === Infinity && least <= 1 && !mayBeEmpty(of)) return this.#loop(of, least === 0)
    const rounds = Array.from({ length: Math.min(most === Infinity ? least : most, MAX_POSITIONS + 1) }, () => this.#span(of))
    if (rounds.includes(undefined)) return undefined
    let span = most === Infinity ? this.#loop(of, true) : EMPTY
    // From the last to the first: a round that may be left out takes those after it along.
    for (let round = rounds.length - 1; round >= 0 && span !== undefined; round -= 1) {
      span = this.#then(rounds[round] as Span, span)
      if (round >= least) span = either(span, EMPTY)
    }
    return span
  }

  #loop(of: Part, mayBeLeftOut: boolean): Span | undefined {
    const span = this.#span(of)
    if (span === undefined) return undefined
    this.#link(span.last, span.first, 1)
    return mayBeLeftOut ? { ...span, empty: 1, isSurelyEmpty: true } : span
  }

  #then(a: Span, b: Span): Span {
    this.#link(a.last, b.first, 1)
    return {
      first: joined(a.first, b.first, a.empty),
      last: joined(b.last, a.last, b.empty),
      empty: Math.min(a.empty * b.empty, 2),
      isSurelyEmpty: a.isSurelyEmpty && b.isSurelyEmpty,
      sureLast: b.isSurelyEmpty ? new Set([...a.sureLast, ...b.sureLast]) : b.sureLast,
    }
  }

  #link(from: Span['last'], to: Span['first'], times: number): void {
    for (const [p, left] of from) {
      const next = this.#next[p] as Map<number, number>
      for (const [q, right] of to) next.set(q, Math.min((next.get(q) ?? 0) + left * right * times, 2))
    }
  }
}

function either(a: Span, b: Span): Span {
  return {
    first: joined(a.first, b.first, 1), last: joined(a.last, b.last, 1), empty: Math.min(a.empty + b.empty, 2),
    isSurelyEmpty: a.isSurelyEmpty || b.isSurelyEmpty, sureLast: new Set([...a.sureLast, ...b.sureLast]),
  }
}

function joined(a: ReadonlyMap<number, number>, b: ReadonlyMap<number, number>, times: number): Map<number, number> {
  const all = new Map(a)
  if (times > 0) for (const [position, ways] of b) all.set(position, Math.min((all.get(position) ?? 0) + ways * times, 2))
  return all
}
