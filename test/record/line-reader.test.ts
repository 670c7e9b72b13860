/** Chunks that end anywhere give the same lines as the whole text. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createReader, cutAt } from './create-ring.js'
import { modelRuns } from '../model-runs.js'

function linesOf(chunks: readonly string[]): string[] {
  const lines: string[] = []
  const reader = createReader(({ text }) => lines.push(text))
  for (const chunk of chunks) reader.write(chunk)
  reader.end()
  return lines
}

describe('lines', () => {
  test('any chunking gives the same lines', () => {
    const text = fc
      .array(fc.oneof(fc.constantFrom('\n', '\r\n', '\r', '\n\n', '{"a":1}', '"', '😀'), fc.string({ unit: 'binary' })))
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(text, fc.array(fc.nat(), { maxLength: 20 }), (whole, places) => {
        const wanted = whole
          .split('\n')
          .map((line) => line.replace(/\r$/, ''))
          .filter((line) => line !== '')
        expect(linesOf(cutAt(whole, places))).toEqual(wanted)
      }),
      { numRuns: modelRuns(1_000, 5_000) },
    )
  })

  test.each(['\nnext\n', '\n', ''])(
    'of an endless line passes on the beginning, with the length of the whole: %j',
    (end) => {
      const lines: [line: string, cutFrom: number][] = []
      const reader = createReader(({ text, cutFrom }) => lines.push([text, cutFrom]), { maxLineChars: 400_000 })
      for (const chunk of ['before\n', ...Array.from({ length: 100 }, () => 'x'.repeat(10_000)), end])
        reader.write(chunk)
      reader.end()
      expect(lines.filter(([line]) => !/^(?:before|next)$/.test(line))).toEqual([['x'.repeat(400_000), 1_000_000]])
      expect(lines.map(([, from]) => from)).toEqual(end.includes('next') ? [0, 1_000_000, 0] : [0, 1_000_000])
    },
  )

  test('a line of many small chunks does not take quadratic time', () => {
    const lines = linesOf([...Array.from({ length: 200_000 }, () => 'x'.repeat(10)), '\n'])
    expect(lines.map((line) => line.length)).toEqual([2_000_000])
  })
})

test('a text written during a callback does not repeat lines', () => {
  const taken: string[] = []
  const reader = createReader(({ text: line }) => {
    taken.push(line)
    if (line === 'one') reader.write('from within\n')
  })
  reader.write('one\ntwo\nthree\n')
  expect(taken.toSorted()).toEqual(['from within', 'one', 'three', 'two'])
})

test('text read in parts gives the same lines, each once', () => {
  const taken: string[] = []
  const reader = createReader(({ text }) => taken.push(text))
  reader.write('ze')
  reader.begin('ro\none\n\ntwo\nthr')
  let parts = 0
  while (reader.advance(1)) parts += 1
  expect(parts).toBeGreaterThan(1)
  reader.begin('ee\nfour\nfive\n')
  expect(reader.advance(1)).toBe(true)
  reader.begin('six')
  reader.end()
  expect(taken).toEqual(['zero', 'one', 'two', 'three', 'four', 'five', 'six'])
})
