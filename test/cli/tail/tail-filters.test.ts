/** Queries of `--search`, alone and with the range that `--json` and `--full` add. */
import { describe, expect, it } from 'vitest'
import { addSeqRange, parseFilters } from '../../../src/cli/tail/tail-filters.js'
import { parseQuery } from '../../../src/service/query/language/index.js'

const parse = (search: string, isWhole: boolean) =>
  parseFilters({ texts: new Map([['search', search]]), switches: new Set(), positionals: [] } as never, isWhole)

describe('a query at a limit', () => {
  it.each([
    ['of characters', 'a'.repeat(2000), 'a'.repeat(1900)],
    ['of terms', 'a '.repeat(50), 'a '.repeat(49)],
    ['of nesting', `${'('.repeat(49)}a${')'.repeat(49)}`, `${'('.repeat(48)}a${')'.repeat(48)}`],
  ])('%s is refused only if a term is added', (_, full, shorter) => {
    expect(parse(full, false)).toEqual({ q: full })
    expect(() => parse(full, true)).toThrow(/--search is too long for --json and --full/)
    expect(parse(shorter, true)).toEqual({ q: shorter })
    expect(parseQuery(addSeqRange(shorter, 123_456, Number.MAX_SAFE_INTEGER)).problem).toBeUndefined()
  })
})

it.each([undefined, '', '  '])('the query %j restricted to a range is the range', (q) => {
  expect(addSeqRange(q, 3, 5)).toBe('seq:3..5')
})

it('all alternatives of a query are restricted', () => {
  expect(addSeqRange('a OR b', 3, 5)).toBe('(a OR b) seq:3..5')
})
