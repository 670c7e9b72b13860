/** Readers of lines without a mapper. */
import { LineJoiner } from '../../src/record/line-joiner.js'
import { LineReader, MAX_LINE_CHARS } from '../../src/record/line-reader.js'
import type { OnLine } from '../../src/record/line-reader.js'
import { LEAST_RING_BYTES, LineRing, memoryBytesOf } from '../../src/record/line-ring.js'
import { LineUnwrapper } from '../../src/record/line-unwrapper.js'

/** In memory of its own, as in runtimes without WebAssembly. */
export function createRing(bytes: number = LEAST_RING_BYTES): LineRing {
  return new LineRing(new ArrayBuffer(memoryBytesOf(bytes)), bytes)
}

/** Passes on each line. */
const shared = createRing()

export function createReader(onLine: OnLine, { ring = shared, maxLineChars = MAX_LINE_CHARS } = {}): LineReader {
  const reader: LineReader = new LineReader({
    ring,
    onLines: () => {
      while (reader.hasLines) {
        const line = reader.next()
        if (line !== undefined) onLine(line)
      }
    },
    onLongLine: onLine,
    maxLineChars,
  })
  return reader
}

/** The text in pieces, cut at the given positions. */
export function cutAt(text: string, places: readonly number[]): string[] {
  const cuts = [...new Set(places.map((place) => place % (text.length + 1)))].toSorted((a, b) => a - b)
  return [...cuts, text.length].map((cut, index) => text.slice(index === 0 ? 0 : cuts[index - 1], cut))
}

/** Joins lines of text; each flat object with a level and a time is a record. */
export function createUnwrapper(lines: LineRing, onLine: OnLine): LineUnwrapper {
  const isRecord = (json: string): boolean => /^\{"level":[^{}]*"time":[^{}]*\}$/.test(json)
  const mapper = { lines, isRecord, startsWithLevel: () => false }
  return new LineUnwrapper(mapper, new LineJoiner(lines, onLine), () => {})
}
