/** Long text is taken a slice at a time, in order and whole, and who asks for more is answered when there is room. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { TextSlicer } from '../../src/transport/text-slicer.js'
import { LineSplitter } from '../../src/record/line-splitter.js'

function setup() {
  const taken: string[] = []
  const told: string[] = []
  const lines = new LineSplitter((text, start, end) =>
    taken.push(text.slice(start, start + Math.min(end - start, 8)).trimEnd()),
  )
  const slices = new TextSlicer({ begin: (text) => lines.begin(text), advance: (maxChars) => lines.advance(maxChars) })
  const take = (name: string, chars: number): void => slices.add(linesOf(name, chars), () => told.push(name))
  return { taken, told, slices, take }
}

/** Lines of 1,000 characters. */
function linesOf(name: string, chars: number): string {
  return Array.from({ length: Math.ceil(chars / 1_000) }, (_, n) => `${name}${n} `.padEnd(999, '.') + '\n').join('')
}

const namesOf = (name: string, chars: number): string[] =>
  Array.from({ length: Math.ceil(chars / 1_000) }, (_, n) => `${name}${n} .......`.slice(0, 8))

test('a short text is taken when the call returns; behind a long one it waits for it', async () => {
  const { taken, told, take } = setup()
  take('a', 1_000)
  expect(taken).toEqual(namesOf('a', 1_000))
  take('b', 600_000)
  take('c', 1_000)
  expect(taken.length).toBeLessThan(600)
  while (taken.length < 602) await turn()
  expect(told).toEqual(['a', 'b', 'c'])
  expect(taken).toEqual([...namesOf('a', 1_000), ...namesOf('b', 600_000), ...namesOf('c', 1_000)])
})

test('a long one leaves the event loop its turns', async () => {
  const { taken, take } = setup()
  take('a', 900_000)
  const after: number[] = []
  while (taken.length < 900) {
    after.push(taken.length)
    await turn()
  }
  expect(after.length).toBeGreaterThanOrEqual(3)
  expect(taken).toEqual(namesOf('a', 900_000))
})

test.each([300_000, 900_000, 2_000_000])(
  'of %i characters: more is asked for at once; a second text waits until the first is taken',
  async (chars) => {
    const { taken, told, take } = setup()
    take('a', chars)
    expect(told).toEqual(['a'])
    take('b', chars)
    expect(told).toEqual(['a'])
    while (taken.length < chars / 1_000) await turn()
    expect(told).toEqual(['a', 'b'])
    while (taken.length < chars / 500) await turn()
    expect(taken).toEqual([...namesOf('a', chars), ...namesOf('b', chars)])
  },
)

test('what waits can be taken now, and later text is sliced again', async () => {
  const { taken, told, slices, take } = setup()
  take('a', 2_000_000)
  take('b', 700_000)
  slices.finish()
  expect(taken).toHaveLength(2_700)
  expect(told).toEqual(['a', 'b'])
  take('c', 700_000)
  expect(taken.length).toBeLessThan(3_400)
  while (taken.length < 3_400) await turn()
  expect(told).toEqual(['a', 'b', 'c'])
})

test('what comes while all that waits is taken is not part of it', async () => {
  const { taken, slices, take } = setup()
  let more = 0
  const next = (): void => {
    more += 1
    if (more < 50) slices.add(linesOf('m', 300_000), next)
  }
  take('a', 300_000)
  slices.add(linesOf('b', 300_000), next)
  slices.finish()
  expect(taken).toHaveLength(600)
  while (taken.length < 600 + 49 * 300) await turn()
  expect(more).toBe(50)
})
