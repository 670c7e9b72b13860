/** [worker] Which records of a level are sent where only a share of them is wanted. A trace goes whole or not at all. */
import type { SampleRates } from '../options/breadcrumb-settings.js'
import { LEVELS } from '../protocol/log-entry.js'

const TWO_TO_32 = 2 ** 32
const ZERO = 48
/** W3C Trace Context, section 3.2.2.3: an id of zeros alone names no trace. Some tracers write it outside of one. */
const NO_TRACE = /^0+$/

export class Sampler {
  /** By rank. */
  readonly #rates: readonly number[]
  /** Records without a trace so far, by rank. */
  readonly #seen: number[]

  /** @param rates shares from 0 to 1 by level; a level without one is sent whole */
  constructor(rates: SampleRates) {
    this.#rates = LEVELS.map((level) => rates[level] ?? 1)
    this.#seen = LEVELS.map(() => 0)
  }

  /**
   * With a trace its id alone decides, alike in every process: what is kept at a rate is kept at every higher one.
   * Without one every 1/rate-th record is kept, beginning with the first.
   *
   * @param rank position of the level in `LEVELS`
   * @param traceId '' where there is none
   */
  keeps(rank: number, traceId: string): boolean {
    const rate = this.#rates[rank] ?? 1
    if (rate >= 1) return true
    if (rate <= 0) return false
    if (traceId === '' || (traceId.charCodeAt(0) === ZERO && NO_TRACE.test(traceId))) return this.#keepsNext(rank, rate)
    return hash(traceId) < rate * TWO_TO_32
  }

  /** From the count and not from a sum of rates, whose rounding errors would add up. */
  #keepsNext(rank: number, rate: number): boolean {
    const seen = this.#seen[rank] ?? 0
    this.#seen[rank] = seen + 1
    return Math.ceil((seen + 1) * rate) > Math.ceil(seen * rate)
  }
}

/**
 * 32 bits. W3C ids are random, others count up or begin alike: FNV-1a takes every character in, and MurmurHash3's finalizer
 * spreads the last ones over the upper bits. Other languages can do the same, over UTF-16 units.
 */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
