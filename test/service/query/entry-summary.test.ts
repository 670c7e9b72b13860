/** Summaries of entries for rows of a list. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/protocol/log-entry.js'
import { createSummarizer } from '../../../src/service/query/entry-summary.js'
import { entryOf } from '../support.js'

describe('a summary', () => {
  const summarizeEntry = createSummarizer({})
  const stored = (fields: Parameters<typeof entryOf>[0]) => ({
    id: 'ent_run_1',
    seq: 1,
    received_at: '2026-01-31T08:00:00.000Z',
    batch_id: 'b',
    entry: entryOf(fields),
  })

  it('has the fields that a row shows, at a bounded length, and no others', () => {
    const long = 'x'.repeat(1000)
    const summary = summarizeEntry(
      stored({
        message: long,
        service: 's',
        environment: 'e',
        version: 'v',
        release_id: 'r',
        request_id: 'q',
        tags: ['t'],
        trace: { trace_id: 't', span_id: 's' },
        error: { type: long, message: long, stack: long },
        request: { method: 'GET', url: long, path: long, status_code: 200, duration_ms: 1.5, ip: '::1' },
        breadcrumbs: [{}, {}],
        metadata: { a: 1 },
        user_id: 'u',
      }),
    )
    expect(summary).toMatchObject({
      service: 's',
      environment: 'e',
      version: 'v',
      release_id: 'r',
      request_id: 'q',
      tags: ['t'],
      trace_id: 't',
      span_id: 's',
      user: 'u',
      details: { a: 1 },
      breadcrumbs: 2,
      request: { method: 'GET', status_code: 200, duration_ms: 1.5 },
    })
    expect([
      summary.message.length,
      summary.error?.type?.length,
      summary.error?.message?.length,
      summary.request?.path?.length,
    ]).toEqual([500, 200, 200, 200])
    expect(JSON.stringify(summary)).not.toMatch(/stack|url|ip"|metadata|user_/)
  })

  it('has the first 8 scalars of the metadata, nested ones by their path', () => {
    const details = (metadata: JsonObject) => summarizeEntry(stored({ metadata })).details
    expect(details({ pid: 1, hostname: 'h', event_id: 'e' })).toBeUndefined()
    expect(details({ error: { cause: { type: 'T', cause: { type: 'T', code: 'E' } } } })).toEqual({
      'error.cause.cause.code': 'E',
    })
    expect(details({ a: { b: { c: 'x' }, pid: 3 }, list: [1], none: null, yes: false, n: 1.5 })).toEqual({
      'a.b.c': 'x',
      'a.pid': 3,
      yes: false,
      n: 1.5,
    })
    expect(details({ long: 'x'.repeat(100), ['k'.repeat(61)]: 1, ['k'.repeat(60)]: 2 })).toEqual({
      long: `${'x'.repeat(79)}…`,
      ['k'.repeat(60)]: 2,
    })
    const many = Object.fromEntries(Array.from({ length: 1000 }, (_, n) => [`k${n}`, n]))
    expect(Object.keys(details(many) ?? {})).toEqual(['k0', 'k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7'])
    expect(Object.keys(details({ ['__proto__']: { x: 1 } }) ?? {})).toEqual(['__proto__.x'])
    const deep = Array.from({ length: 5000 }).reduce<JsonObject>((inner) => ({ a: inner }), {})
    expect(details(deep)).toBeUndefined()
  })

  it.each<[string, object | undefined]>([
    ['', undefined],
    ['declined', undefined],
    ['ORDERS', undefined],
    ['gold', { field: 'plan', value: 'gold' }],
    ['request_id:4711', undefined],
    ['-4711', undefined],
    ['4711', { field: 'request_id', value: '4711' }],
    ['declined 4711', { field: 'request_id', value: '4711' }],
    ['"Ann B"', { field: 'user', value: 'Ann B' }],
    ['nothing OR "ann b"', { field: 'user', value: 'Ann B' }],
    ['sku', { field: 'lines.sku', value: 'A-1' }],
    ['needle', { field: 'error.stack', value: `…${'x'.repeat(20)}needle${'y'.repeat(52)}…` }],
  ])('names the field that the search %j found if the row does not show it', (q, hit) => {
    const record = stored({
      message: 'declined',
      request_id: '4711',
      user: { name: 'Ann B' },
      trace: { trace_id: 'a4711b' },
      error: { type: 'E', stack: `${'x'.repeat(100)}needle${'y'.repeat(100)}` },
      request: { path: '/orders/1' },
      metadata: { plan: 'gold', lines: [{ sku: 'A-1' }] },
    })
    expect(createSummarizer({ q })(record).hit).toEqual(hit)
  })
})
