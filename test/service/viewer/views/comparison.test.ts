/** Comparison of two versions or runs. */
import { expect, test } from 'vitest'
import type { ReleaseSide } from '../../../../src/service/query/api-types.js'
import {
  compareRoutes,
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

test('a version that is worse in everything', () => {
  expect(compareSides(side(1_000, 10, 200, 2, 100), side(500, 40, 100, 20, 250))).toEqual([
    {
      name: 'Error rate of entries',
      before: '1 % (10 of 1,000)',
      after: '8 % (40 of 500)',
      change: '+7 points',
      verdict: 'worse',
    },
    {
      name: 'Error rate of requests (5xx)',
      before: '1 % of 200',
      after: '20 % of 100',
      change: '+19 points',
      verdict: 'worse',
    },
    { name: 'p95 of requests', before: '100 ms', after: '250 ms', change: '+150 ms (+150 %)', verdict: 'worse' },
  ])
})

test('better, the same, and a difference that may be chance', () => {
  const verdicts = (before: ReleaseSide, after: ReleaseSide) =>
    compareSides(before, after).map(({ verdict }) => verdict)
  expect(verdicts(side(500, 40, 100, 20, 250), side(1_000, 10, 200, 2, 100))).toEqual(['better', 'better', 'better'])
  expect(verdicts(side(100, 10, 100, 10, 100), side(200, 21, 200, 21, 104))).toEqual(['same', 'same', 'same'])
  expect(verdicts(side(100, 0, 100, 0, 1), side(100, 2, 100, 2, 3))).toEqual(['same', 'same', 'same'])
})

test('a side without data is not compared', () => {
  expect(
    compareSides(side(0, 0, 0, 0, null), side(100, 50, 10, 5, 20)).map(({ before, change, verdict }) => [
      before,
      change,
      verdict,
    ]),
  ).toEqual([
    ['–', '', 'same'],
    ['–', '', 'same'],
    ['–', '', 'same'],
  ])
})

test('routes are sorted by increase in latency; routes in only one version come last', () => {
  const stats = (p95: number) => ({ count: 10, p95_ms: p95, error_rate: 0 })
  const rows = compareRoutes([
    { service: null, method: 'GET', route: '/new', before: null, after: stats(5) },
    { service: null, method: 'GET', route: '/faster', before: stats(100), after: stats(40) },
    { service: null, method: 'GET', route: '/same', before: stats(100), after: stats(100) },
    { service: null, method: 'GET', route: '/gone', before: stats(7), after: null },
    { service: null, method: 'POST', route: '/slower', before: stats(100), after: stats(400) },
  ])
  expect(rows.map(({ name, before, after, change, verdict }) => [name, before, after, change, verdict])).toEqual([
    ['POST /slower', '100 ms', '400 ms', '+300 ms (+300 %)', 'worse'],
    ['GET /same', '100 ms', '100 ms', '±0 ms (±0 %)', 'same'],
    ['GET /faster', '100 ms', '40 ms', '−60 ms (−60 %)', 'better'],
    ['GET /gone', '7 ms', '–', 'gone', 'same'],
    ['GET /new', '–', '5 ms', 'new', 'same'],
  ])
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
