/** Comparison of two versions or runs. */
import { expect, test } from 'vitest'
import type { ReleaseSide } from '../../../../src/service/query/api-types.js'
import {
  compareSides,
  findNewest,
  findPredecessor,
  listSides,
} from '../../../../src/service/viewer/views/comparison.js'

const side = (entries: number, errors: number, requests: number, failed: number, p95: number | null): ReleaseSide => ({
  query: 'any',
  entries,
  errors,
  error_rate: entries === 0 ? 0 : errors / entries,
  requests,
  request_error_rate: requests === 0 ? 0 : failed / requests,
  p95_ms: p95,
})

test('better, the same, and a difference that may be chance', () => {
  const verdicts = (before: ReleaseSide, after: ReleaseSide) =>
    compareSides(before, after).map(({ verdict }) => verdict)
  expect(verdicts(side(500, 40, 100, 20, 250), side(1_000, 10, 200, 2, 100))).toEqual(['better', 'better', 'better'])
  expect(verdicts(side(100, 10, 100, 10, 100), side(200, 21, 200, 21, 104))).toEqual(['same', 'same', 'same'])
  expect(verdicts(side(100, 0, 100, 0, 1), side(100, 2, 100, 2, 3))).toEqual(['same', 'same', 'same'])
})

test('by default, the newest version that followed another one of its service is compared, else the newest such run', () => {
  const at = { first_seen: '2026-01-31T17:12:30.000Z', last_seen: '', entries: 1 }
  const version = (service: string, name: string) => ({ service, version: name, release_id: null, ...at })
  const run = (pid: string) => ({
    ...{ run: `shop-${pid}@laptop`, service: 'shop', pid, hostname: 'laptop', is_restart: false },
    ...at,
  })
  const pair = (...given: Parameters<typeof listSides>) => {
    const sides = listSides(...given)
    const after = findNewest(sides)?.query ?? null
    return [findPredecessor(sides, after)?.query, after]
  }
  const versions = [version('mail', '1.0'), version('shop', '1.5.0'), version('pay', '2.0.3'), version('shop', '1.4.0')]
  expect(pair(versions, [run('2'), run('1')])).toEqual(['service:shop version:1.4.0', 'service:shop version:1.5.0'])
  expect(pair(versions.slice(0, 1), [run('2'), run('1')])).toEqual(['run:shop-1@laptop', 'run:shop-2@laptop'])
  expect(pair(versions.slice(0, 3), [run('1')])).toEqual([undefined, null])
  expect(listSides(versions.slice(0, 1), [run('1')])).toMatchObject([
    { text: 'mail 1.0' },
    { text: expect.stringMatching(/^shop.*1/) },
  ])
})
