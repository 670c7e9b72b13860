/** A ring of texts in one block of memory keeps the newest texts that fit, complete. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ChunkRing } from '../../src/breadcrumbs/chunk-ring.js'

const MAX_BYTES = 200_000

const text = fc
  .tuple(
    fc.constantFrom('a', 'é', 'ж', '\ud800'),
    fc.oneof(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 90_000 }),
      fc.integer({ min: 1, max: 250_000 }),
    ),
  )
  .map(([char, length]) => char.repeat(length))

test('keeps the newest texts, in order, within the bound', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.constant(undefined) }), {
        maxLength: 40,
      }),
      (steps) => {
        const ring = new ChunkRing(MAX_BYTES)
        let kept: { first: number; text: string }[] = []
        let next = 0
        for (const step of steps) {
          if (step === undefined) {
            if (!ring.isEmpty) {
              ring.dropOldest()
              kept.shift()
            }
          } else {
            ring.push(step, next)
            kept.push({ first: next, text: step })
            next += 3
          }
          // The removed texts must be the oldest.
          kept = kept.filter(({ first }) => ring.first !== undefined && first >= ring.first)
          expect(ring.isEmpty).toBe(kept.length === 0)
          expect(ring.bytes).toBeLessThanOrEqual(MAX_BYTES)
          let index: number | undefined
          for (const { first, text: one } of kept.toReversed()) {
            index = ring.indexOf(first + 2, index)
            expect(ring.slice(index, 0, one.length) === one).toBe(true)
            expect(ring.slice(index, one.length >> 1, one.length)).toHaveLength(one.length - (one.length >> 1))
          }
        }
      },
    ),
    { numRuns: 300 },
  )
})

test('always has room for half of the bound', () => {
  const ring = new ChunkRing(MAX_BYTES)
  for (let n = 0; n < 100; n += 1) ring.push(String(n % 10).repeat(30_000 + 1_000 * (n % 7)), n)
  expect(99 - (ring.first as number)).toBeGreaterThanOrEqual(3)
})
