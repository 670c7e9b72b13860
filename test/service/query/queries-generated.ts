/** Generated records for the tests of queries: few values, which often coincide, and texts that are hard to compare. */
import fc from 'fast-check'
import { LEVELS } from '../../../src/protocol/log-entry.js'
import type { LogEntry } from '../../../src/protocol/log-entry.js'

/** Names with special characters of JSON and regular expressions, and beyond ASCII. */
export const NAMES = [
  'a',
  'B',
  'b',
  '',
  ',',
  '","',
  '"',
  '\\',
  '%',
  '_',
  "'",
  '[',
  ' ',
  'ß',
  'İ',
  '\u{1f4a5}',
  '\uff5e',
  'null',
  '\u001f',
] as const
export const TIMES = [
  '1970-01-01T00:00:00.000Z',
  '1969-12-31T23:59:59.999Z',
  '2026-01-31T08:00:00.000Z',
  '2026-01-31T08:00:00.123456789Z',
  '2026-01-31T08:00:00.124Z',
  '2026-01-31T08:59:59.999+00:00',
  '2026-02-01T00:00:00Z',
  '2200-12-31T23:59:59.999Z',
  '0001-01-01T00:00:00.000Z',
  '9999-12-31T23:59:59.999Z',
] as const

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('a', 'b', '\u{1f4a5}', '\uff5e') },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
)
const time = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...TIMES) },
  fc.integer({ min: 1.7e12, max: 1.7e12 + 3.6e6 }).map((ms) => new Date(ms).toISOString()),
)
const text = fc.oneof(
  name,
  fc.constantFrom('Order 1 failed', 'order 2 FAILED', '100%', 'a_b', 'Größe "x"', 'it is\nso'),
)
const stack = fc.constantFrom('Error: x\n    at f (/app/a.js:1:2)', 'Error: x\n    at g (/app/a.js:1:2)', 'no frames')

/** Generates objects with any subset of the fields. */
function optional<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(fields, { requiredKeys: [] })
}

export const entry: fc.Arbitrary<LogEntry> = fc
  .tuple(
    fc.record({ level: fc.constantFrom(...LEVELS), message: text, timestamp: time }),
    optional({
      service: name,
      environment: name,
      version: name,
      user_id: fc.constantFrom('u', 'v'),
      user: optional({ id: fc.constantFrom('u', 'w') }),
      metadata: optional({ event_id: fc.constantFrom('a', 'ent_run_1', 'ent_run_3'), key: text }) as fc.Arbitrary<
        Record<string, string>
      >,
      tags: fc.array(name, { maxLength: 3 }),
      error: optional({ type: name, message: text, stack }),
      trace: optional({ trace_id: name }),
      fingerprint: fc.constantFrom('a', 'b'),
      action: text,
      release_id: fc.constantFrom('rel_a', 'rel_b'),
      request_id: name,
    }),
  )
  .map(([required, rest]) => ({ ...rest, ...required }))

const entryFilter = optional({
  level: fc.oneof(fc.constantFrom(...LEVELS), fc.subarray([...LEVELS], { minLength: 1 })),
  service: name,
  environment: name,
  version: name,
  release_id: fc.constantFrom('rel_a', 'rel_b'),
  trace_id: name,
  request_id: name,
  tag: name,
  fingerprint: name,
  q: fc.constantFrom(
    'order',
    'FAILED',
    '0%',
    '"a_b"',
    'größe',
    'key:order*',
    'message:"x"',
    '/o.der \\d/i',
    'tag:* -level:info',
    'i̇',
  ),
  since: fc.constantFrom(...TIMES),
  until: fc.constantFrom(...TIMES),
})
/** At most two filters, because more would rarely match any entry. */
export const fewFilters = fc.tuple(entryFilter, fc.nat(), fc.nat()).map(([filter, first, second]) => {
  const fields = Object.entries(filter)
  const chosen = fields.filter(
    (_, n) => fields.length > 0 && (n === first % fields.length || n === second % fields.length),
  )
  return Object.fromEntries(chosen) as typeof filter
})
