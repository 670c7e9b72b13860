/** Generated records; they use the same few values as generated queries. */
import fc from 'fast-check'
import { LEVELS } from '../../../../src/protocol/log-entry.js'
import type { Json, LogEntry } from '../../../../src/protocol/log-entry.js'
import type { RequestLog } from '../../../../src/protocol/resources.js'

const NAMES = [
  'a',
  'B',
  'order',
  'Order 1017 failed',
  'FAILED',
  'u-42',
  '1017',
  'Größe',
  'x.y',
  '502',
  'İ',
  '/api/a',
  'a/b',
]
const name = fc.constantFrom(
  ...NAMES,
  'x/y',
  'a "b"',
  '',
  '-',
  '\\',
  '*',
  'OR',
  '>5',
  '💥',
  'a b',
  '200',
  'failed, a b',
)
const number = fc.constantFrom(5, -1, 200, 200.5, 502, 1000, 0.5, 1017)
const time = fc.constantFrom(
  ...['2026-01-31T08:00:00.123Z', '2026-01-31T08:00:00.000Z', '2026-01-31T08:00:59.999Z', '2026-01-30T23:59:59.999Z'],
  ...['2026-02-01T00:00:00.000Z', '2026-01-31T07:59:59.999Z'],
)
const scalar: fc.Arbitrary<Json> = fc.oneof(name, number, time, fc.boolean(), fc.constant(null))
const json: fc.Arbitrary<Json> = fc.letrec<{ node: Json }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 2 },
    scalar,
    fc.array(tie('node'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'a.b', 'orderId'), tie('node'), { maxKeys: 2 }),
  ),
})).node

/** Generates objects with any subset of the fields. */
function optional<T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) {
  return fc.record(fields, { requiredKeys: [] })
}

const metadata = fc.dictionary(fc.constantFrom('a', 'a b', 'orderId', 'a.b', 'order', 'host', 'route'), json, {
  maxKeys: 3,
})

export const searchedEntry: fc.Arbitrary<LogEntry> = fc
  .tuple(
    fc.record({ level: fc.constantFrom(...LEVELS), message: name, timestamp: time }),
    optional({
      service: name,
      user_id: name,
      user: optional({ id: name, email: name, name }),
      metadata: metadata as fc.Arbitrary<Record<string, Json>>,
      tags: fc.array(name, { maxLength: 2 }),
      error: optional({ type: name, message: name, stack: name }),
      request: optional({
        method: name,
        path: name,
        url: name,
        ip: name,
        user_agent: name,
        status_code: number,
        duration_ms: number,
      }),
      trace: optional({ trace_id: name, span_id: name, parent_span_id: name }),
      perf: optional({ duration_ms: number, memory_mb: number, db_queries: number, cache_hits: number }),
      deploy: optional({ commit: name, branch: name, deployed_by: name }),
      environment: name,
      version: name,
      session_id: name,
      release_id: name,
      source: name,
      notify: fc.boolean(),
      notify_channels: fc.array(name, { maxLength: 2 }),
      breadcrumbs: fc.array(
        optional({ category: name, message: name, data: metadata as fc.Arbitrary<Record<string, Json>> }),
        {
          maxLength: 2,
        },
      ),
      action: name,
      request_id: name,
    }),
  )
  .map(([required, rest]) => ({ ...rest, ...required }))

export const searchedRequest: fc.Arbitrary<RequestLog> = fc
  .tuple(
    fc.record({
      method: name,
      path: name,
      status_code: number,
      duration_ms: number,
      request_id: name,
      timestamp: time,
    }),
    optional({ route: name, service: name, environment: name, host: name }),
  )
  .map(([required, rest]) => ({ ...rest, ...required }))
