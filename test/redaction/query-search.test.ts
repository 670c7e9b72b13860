import fc from 'fast-check'
import { expect, test } from 'vitest'
import { QuerySearch } from '../../src/redaction/query-search.js'
import { modelRuns } from '../model-runs.js'

/** The equivalent regular expression. */
const PLACE = /(?:query|params|meters)":(?:\{"|\[[^\]])/gi

const text = fc
  .array(
    fc.constantFrom(
      'query',
      'Query',
      'params',
      'searchParams',
      'parameters',
      'PARAMETERS',
      'headers',
      'qs',
      '"',
      '":',
      '{',
      '{"',
      '[',
      ']',
      '[]',
      '{}',
      '}',
      ',',
      'a',
      '1',
      ':',
      '\n',
      '"query":{"token":"x"}',
      '"params":["token","x"]',
      '"params":[]',
      '"query":{}',
      '"req":{"query":{"a":1}}',
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''))

test('finds the same as the expression', () => {
  fc.assert(
    fc.property(text, fc.nat(20), (json, from) => {
      const found: { at: number; container: number }[] = []
      const search = new QuerySearch(json)
      for (let place = search.next(from); place !== undefined; place = search.next(place.container + 1))
        found.push(place)
      PLACE.lastIndex = from
      const expected: typeof found = []
      for (let match = PLACE.exec(json); match !== null; match = PLACE.exec(json)) {
        expected.push({ at: match.index, container: match.index + match[0].length - 2 })
        // The text after the bracket may be the start of the next match.
        PLACE.lastIndex = match.index + match[0].length - 1
      }
      expect(found).toEqual(expected)
    }),
    { numRuns: modelRuns(4_000, 100_000) },
  )
})
