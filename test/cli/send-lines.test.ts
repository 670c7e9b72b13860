/** From the bytes of a file to slices with their places: whatever the blocks, and wherever it was interrupted. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Cutter } from '../../src/cli/send/cutter.js'
import type { Slice } from '../../src/cli/send/cutter.js'
import { ByteLines } from '../../src/cli/send/lines.js'
import { Ranges } from '../../src/cli/send/ranges.js'
import type { Range } from '../../src/cli/send/ranges.js'
import { parseBatchEntries, createSubBatchId } from '../../src/batch/sub-batch.js'
import { LineSplitter } from '../../src/record/line-splitter.js'

interface Found {
  readonly line: string
  readonly from: number
  readonly to: number
  readonly next: number
}

function blocksOf(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const blocks: Buffer[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? bytes.length
    blocks.push(bytes.subarray(at, at + size))
    at += size
  }
  return blocks
}

/** Every block comes in the same memory, as from a file. */
function linesOf(bytes: Buffer, sizes: readonly number[], at = 0, maxLineBytes?: number): Found[] {
  const lines = new ByteLines(at, maxLineBytes)
  const found: Found[] = []
  const window = Buffer.alloc(bytes.length)
  const keep = (
    taken: Iterable<{ text: string; start: number; end: number; from: number; to: number; next: number }>,
  ): void => {
    for (const { text, start, end, from, to, next } of taken)
      found.push({ line: text.slice(start, end), from, to, next })
  }
  for (const block of blocksOf(bytes, sizes)) {
    block.copy(window)
    keep(lines.push(window.subarray(0, block.length)))
  }
  keep(lines.end())
  return found
}

/** Newlines, carriage returns, NUL, parts of characters and whole ones. */
const someBytes = fc
  .array(
    fc.constantFrom(
      '0a',
      '0a',
      '0d0a',
      '0d',
      '00',
      '61',
      '62',
      'c3a9',
      'c3',
      'a9',
      'e282ac',
      'e282',
      'f09f9880',
      'f0',
      'ff',
      'efbbbf',
    ),
    { maxLength: 60 },
  )
  .map((parts) => Buffer.from(parts.join(''), 'hex'))
const someSizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })

/** A byte order mark belongs to the first line, but not to its text. */
function markBytes(bytes: Buffer): number {
  return bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])) ? 3 : 0
}

describe('lines', () => {
  test('are the same however the bytes come, and their places leave nothing out', () => {
    fc.assert(
      fc.property(someBytes, someSizes, fc.constantFrom(undefined, 7), (bytes, sizes, maxLineBytes) => {
        const found = linesOf(bytes, sizes, 0, maxLineBytes)
        expect(found).toEqual(linesOf(bytes, [bytes.length + 1], 0, maxLineBytes))
        const textAt = markBytes(bytes)
        let at = 0
        for (const { line, from, to, next } of found) {
          expect(from).toBe(at)
          expect(line).toBe(bytes.toString('utf8', Math.max(from, textAt), to).replace(/\r$/, ''))
          at = next
        }
        if (found.length > 0) expect(at).toBe(bytes.length)
      }),
      { numRuns: 2_000 },
    )
  })

  test('are those of the transport', () => {
    fc.assert(
      fc.property(someBytes, someSizes, (bytes, sizes) => {
        const lines: string[] = []
        const splitter = new LineSplitter((text, start, end) => void lines.push(text.slice(start, end)))
        splitter.write(bytes.toString('utf8', markBytes(bytes)))
        splitter.end()
        expect(
          linesOf(bytes, sizes)
            .map(({ line }) => line)
            .filter((line) => line !== ''),
        ).toEqual(lines)
      }),
      { numRuns: 1_000 },
    )
  })

  test('go on the same from wherever one begins', () => {
    fc.assert(
      fc.property(someBytes, someSizes, (bytes, sizes) => {
        const all = linesOf(bytes, sizes, 0, 7)
        for (const [at, { next }] of all.entries())
          expect(linesOf(bytes.subarray(next), sizes, next, 7)).toEqual(all.slice(at + 1))
      }),
      { numRuns: 1_000 },
    )
  })

  test('a line that is too long is cut between characters', () => {
    const bytes = Buffer.from(`${'é'.repeat(10)}\nx`)
    expect(linesOf(bytes, [3], 0, 7).map(({ line }) => line)).toEqual(['ééé', 'ééé', 'ééé', 'é', 'x'])
  })
})

const NAMESPACE = '6ba7b810-9dad-51d1-80b4-00c04fd430c8'

/** Every line is its own entry, but for those that begin with `-`. */
const intake = {
  beginText: () => {},
  build: (text: string, start: number, end: number) => ({
    json: text.startsWith('-', start) ? '' : JSON.stringify(text.slice(start, end)),
    severity: 1,
  }),
}

interface CutOptions {
  readonly from?: number
  readonly settled?: readonly Range[]
  readonly sizes?: readonly number[]
  readonly batchSize?: number
  readonly batchBytes?: number
}

function cut(
  text: string | Buffer,
  { from = 0, settled = [], sizes = [1_000_000], batchSize = 2, batchBytes = 1_000_000 }: CutOptions = {},
): Slice[] {
  const cutter = new Cutter({ intake, namespace: NAMESPACE, batchSize, batchBytes, from, settled: new Ranges(settled) })
  const slices = blocksOf(Buffer.from(text).subarray(from), sizes).flatMap((block) => [...cutter.push(block)])
  return [...slices, ...cutter.end()]
}

function entriesIn(slices: readonly Slice[]): string[] {
  return slices
    .flatMap(({ batch }) => (batch === undefined ? [] : parseBatchEntries(batch.body)))
    .map((entry) => JSON.parse(entry) as string)
}

function resumeAt(ranges: Ranges, slices: readonly Slice[]): number {
  return (
    slices.find(({ end, openFrom }) => end === ranges.prefixEnd && openFrom !== undefined)?.openFrom ?? ranges.prefixEnd
  )
}

describe('slices', () => {
  test('say where they lie, and what they leave out', () => {
    const slices = cut('a\n-\nb\n\nc\n-\n')
    expect(slices.map(({ start, end, filtered, batch }) => [start, end, filtered, batch?.count])).toEqual([
      [0, 6, 1, 2],
      [6, 11, 1, 1],
    ])
    expect(entriesIn(slices)).toEqual(['a', 'b', 'c'])
    expect(slices[0]?.batch?.batchId).toBe(createSubBatchId(NAMESPACE, [0, 6]))
    expect(JSON.parse(Buffer.from(slices[0]?.batch?.body ?? []).toString())).toEqual({
      batch_id: createSubBatchId(NAMESPACE, [0, 6]),
      logs: ['a', 'b'],
    })
  })

  test('keep to the bytes of a body; one entry that is longer goes alone', () => {
    const long = 'x'.repeat(300)
    const slices = cut(`aa\n${long}\nbb\ncc\n`, { batchSize: 100, batchBytes: 200 })
    expect(slices.map(({ batch }) => batch?.count)).toEqual([1, 1, 2])
    for (const { batch } of [slices[0], slices[2]] as Slice[]) expect(batch?.body.length).toBeLessThanOrEqual(200)
  })

  test('a last line without its newline says where it begins', () => {
    expect(cut('a\nbc').map(({ start, end, openFrom }) => [start, end, openFrom])).toEqual([[0, 4, 2]])
    expect(cut('a\nb\nc\n').map(({ openFrom }) => openFrom)).toEqual([undefined, undefined])
  })

  test('text that is left out is recorded now and then', () => {
    const slices = cut(`-${'x'.repeat(99)}\n`.repeat(100_000))
    expect(slices.length).toBeGreaterThan(1)
    expect(slices.every(({ batch }) => batch === undefined)).toBe(true)
    expect(slices.reduce((sum, { filtered }) => sum + filtered, 0)).toBe(100_000)
  })

  const someText = fc
    .array(fc.constantFrom('a', 'bb', '-', '', 'é', 'ccc'), { maxLength: 30 })
    .chain((lines) =>
      fc
        .constantFrom('', '\n')
        .map((end) => lines.map((line, at) => (line === '' || line === '-' ? line : `${line}${at}`)).join('\n') + end),
    )

  test('interrupted with any of them settled, the next run makes the rest of them, under the same ids', () => {
    fc.assert(
      fc.property(
        someText,
        fc.array(fc.boolean(), { minLength: 40, maxLength: 40 }),
        someSizes,
        (text, isSettled, sizes) => {
          const first = cut(text, { sizes })
          expect(entriesIn(first)).toEqual(entriesIn(cut(text)))
          const done = first.filter((_, at) => isSettled[at])
          const ranges = new Ranges(done.map(({ start, end }) => [start, end]))
          const second = cut(text, { from: resumeAt(ranges, done), settled: ranges.list, sizes })
          const ids = (slices: readonly Slice[]): string[] => slices.flatMap(({ batch }) => batch?.batchId ?? [])
          expect(ids(second)).toEqual(ids(first.filter((slice) => !done.includes(slice))))
          expect(entriesIn(second)).toEqual(entriesIn(first.filter((slice) => !done.includes(slice))))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('a file that has grown is sent from where it ended; a last line that has grown goes again, whole', () => {
    fc.assert(
      fc.property(someText, someText, someSizes, (text, more, sizes) => {
        const first = cut(text, { sizes })
        const ranges = new Ranges(first.map(({ start, end }) => [start, end]))
        const second = cut(text + more, { from: resumeAt(ranges, first), settled: ranges.list, sizes })
        const last = text.slice(text.lastIndexOf('\n') + 1)
        const sent = [...entriesIn(first), ...entriesIn(second)]
        const wanted = (text + more).split('\n').filter((line) => line !== '' && !line.startsWith('-'))
        const [begun] = more.split('\n')
        const isAgain = last !== '' && !last.startsWith('-') && begun !== ''
        expect(sent.filter((line, at) => !(isAgain && line === last && at === entriesIn(first).length - 1))).toEqual(
          wanted,
        )
        for (const { start, end } of second) ranges.add(start, end)
        expect(ranges.list).toEqual(text + more === '' ? [] : [[0, Buffer.byteLength(text + more)]])
      }),
      { numRuns: 2_000 },
    )
  })
})

test('ranges that touch or overlap are one', () => {
  const some = fc.tuple(fc.nat(30), fc.nat(6)).map(([start, length]) => [start, start + length] as const)
  fc.assert(
    fc.property(fc.array(some, { maxLength: 12 }), (list) => {
      const ranges = new Ranges(list)
      const bytes = new Set(list.flatMap(([start, end]) => Array.from({ length: end - start }, (_, at) => start + at)))
      expect(ranges.total).toBe(bytes.size)
      expect(ranges.list.flatMap(([start, end]) => Array.from({ length: end - start }, (_, at) => start + at))).toEqual(
        [...bytes].toSorted((a, b) => a - b),
      )
      for (const [at, [start]] of ranges.list.entries())
        if (at > 0) expect(start).toBeGreaterThan(ranges.list[at - 1]?.[1] ?? NaN)
      let prefix = 0
      while (bytes.has(prefix)) prefix += 1
      expect(ranges.prefixEnd).toBe(prefix)
      for (const [start, end] of list) if (end > start) expect(ranges.covers(start, end)).toBe(true)
      expect(ranges.covers(prefix, prefix + 1)).toBe(false)
    }),
  )
})
