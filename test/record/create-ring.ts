/** Readers of lines without a mapper. */
import { LineJoiner } from '../../src/record/line-joiner.js'
import type { OnLine } from '../../src/record/line-reader.js'
import { LEAST_RING_BYTES, LineRing } from '../../src/record/line-ring.js'
import { LineUnwrapper } from '../../src/record/line-unwrapper.js'

/** In memory of its own, as in runtimes without WebAssembly. */
export function createRing(bytes: number = LEAST_RING_BYTES): LineRing {
  return new LineRing(Buffer.allocUnsafeSlow(bytes + 1), 0, bytes)
}

/** Joins lines of text; each flat object with a level and a time is a record. */
export function createUnwrapper(lines: LineRing, onLine: OnLine): LineUnwrapper {
  const isRecord = (json: string): boolean => /^\{"level":[^{}]*"time":[^{}]*\}$/.test(json)
  const mapper = { lines, isRecord, startsWithLevel: () => false }
  return new LineUnwrapper(mapper, new LineJoiner(lines, onLine), () => {})
}
