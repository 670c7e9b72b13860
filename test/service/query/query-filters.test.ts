/** URL parameters are parsed to a query, or refused with a reason. */
import { expect, it } from 'vitest'
import { ENTRY_FILTERS, PAGE, readParameters } from '../../../src/service/query/query-filters.js'
import type { ParameterName } from '../../../src/service/query/query-filters.js'

const ALL: readonly ParameterName[] = [
  ...ENTRY_FILTERS,
  ...PAGE,
  'view',
  'buckets',
  'after',
  'columns',
  'method',
  'route',
  'format',
]
const read = (text: string, known = ALL): unknown => readParameters(new URLSearchParams(text), known)

it.each<[string, unknown]>([
  ['', {}],
  [
    'level=error,fatal&service=a&fingerprint=f&q=x',
    { level: ['error', 'fatal'], service: 'a', fingerprint: 'f', q: 'x' },
  ],
  ['tag=a%2Cb&trace_id=t&request_id=&release_id=r', { tag: 'a,b', trace_id: 't', request_id: '', release_id: 'r' }],
  ['limit=1000&cursor=1.2&view=summary', { limit: 1000, cursor: '1.2', view: 'summary' }],
  ['method=GET&route=%2Fa%2F%3Aid&buckets=500', { method: 'GET', route: '/a/:id', buckets: 500 }],
  ['after=12', { after: '12' }],
  ['columns=a,%22b,c%22,a', { columns: ['a', 'b,c'] }],
])('reads %s', (text, expected) => {
  expect(read(text)).toEqual(expected)
})

it.each<[string, string, (readonly ParameterName[])?]>([
  ['color=red', 'parameter must be one of'],
  ['limit=1', '"limit"', ENTRY_FILTERS],
  ['constructor=1', '"constructor"'],
  ['limit=1&limit=2', 'limit must be set only once, got "2"'],
  ['view=long', 'view must be one of summary'],
  ['format=csv', 'format must be one of ndjson'],
  ['limit=', 'limit must be an integer from 1 to 1000, got ""'],
  ['limit=0', 'got "0"'],
  ['limit=1001', 'got "1001"'],
  ['limit=1e2', 'got "1e2"'],
  ['buckets=501', 'buckets must be an integer from 1 to 500, got "501"'],
  ['columns=a,,b', 'columns must be field names'],
  ['columns=', 'columns must be field names'],
  [`columns=${Array.from({ length: 101 }, (_, n) => n).join()}`, 'columns must be at most 100'],
])('refuses %s', (text, message, known) => {
  expect(() => read(text, known)).toThrow(
    expect.objectContaining({ code: 'QUERY', message: expect.stringContaining(message) }),
  )
})
