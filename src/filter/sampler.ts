/** [worker] Sends only a share of the records of a level. All records of one trace and level get the same decision. */
import type { SampleRates } from '../options/settings.js'
import { LEVELS } from '../protocol/log-entry.js'

const TWO_TO_32 = 2 ** 32
const ZERO = 48
/** W3C Trace Context, section 3.2.2.3: an id of zeros is invalid. Some tracers write it outside a trace. */
const NO_TRACE = /^0+$/

export class Sampler {
  /** By severity. */
  readonly #rates: readonly number[]
  /** Number of records without a trace so far, by severity. */
  readonly #seen: number[]

  /** @param rates shares from 0 to 1 by level. Default 1 */
  constructor(rates: SampleRates) {
    this.#rates = LEVELS.map((level) => rates[level] ?? 1)
    this.#seen = LEVELS.map(() => 0)
  }

  /**
   * The decision depends on the trace id, so every process makes the same one, and a record kept at one rate is kept at
   * every higher rate. Without a trace id, every 1/rate-th record is kept, starting with the first.
   *
   * @param severity position of the level in `LEVELS`
   * @param traceId '' if there is none
   */
  keeps(severity: number, traceId: string): boolean {
    const rate = this.#rates[severity] ?? 1
    if (rate >= 1) return true
    if (rate <= 0) return false
    if (traceId === '' || (traceId.charCodeAt(0) === ZERO && NO_TRACE.test(traceId)))
      return this.#keepsNext(severity, rate)
    return hash(traceId) < rate * TWO_TO_32
  }

  /** Computed from the count, because a sum of rates would accumulate rounding errors. */
  #keepsNext(severity: number, rate: number): boolean {
    const seen = this.#seen[severity] ?? 0
    this.#seen[severity] = seen + 1
    return Math.ceil((seen + 1) * rate) > Math.ceil(seen * rate)
  }
}

/**
 * 32-bit hash. W3C ids are random, others are sequential or share a prefix: FNV-1a includes every character, and the
 * finalizer of MurmurHash3 distributes the last ones over the upper bits. Programs in other languages can compute it
 * over UTF-16 units.
 */
function hash(text: string): number {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
