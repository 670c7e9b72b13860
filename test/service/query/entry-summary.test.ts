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

  it('omits fields that the entry does not have', () => {
    expect(summarizeEntry(stored({ tags: [], breadcrumbs: [], trace: {} }))).toEqual({
      id: 'ent_run_1',
      seq: 1,
      received_at: '2026-01-31T08:00:00.000Z',
      level: 'info',
      message: 'hello',
      timestamp: '2026-01-31T08:00:00.000Z',
    })
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

  it('truncates long texts, and keeps short ones unchanged', () => {
    const long = 'x'.repeat(1000)
    const texts = (text: string) => {
      const { service, environment, version, release_id, request_id, trace_id, request, tags } = summarizeEntry(
        stored({
          service: text,
          environment: text,
          version: text,
          release_id: text,
          request_id: text,
          trace: { trace_id: text },
          request: { method: text, path: text },
          tags: Array.from({ length: 30 }, () => text),
        }),
      )
      return {
        tags,
        others: [service, environment, version, release_id, request_id, trace_id, request?.method, request?.path],
      }
    }
    expect(texts(long)).toEqual({
      tags: Array(20).fill(`${long.slice(0, 99)}…`),
      others: Array(8).fill(`${long.slice(0, 199)}…`),
    })
    expect(texts('é💥'.repeat(60)).others[0]).toHaveLength(180)
    expect(texts('💥'.repeat(101)).others[0]).toBe(`${'💥'.repeat(99)}…`)
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

  it('has the first of the names of the user', () => {
    const user = (fields: Parameters<typeof stored>[0]) => summarizeEntry(stored(fields)).user
    expect(user({ user: { name: 'N', email: 'e@x' } })).toBe('e@x')
    expect(user({ user: { name: 'N', email: 'e@x', id: 'i' } })).toBe('i')
    expect(user({ user: { id: 'i' }, user_id: 'u' })).toBe('u')
    expect(user({ user: { name: 'N' } })).toBe('N')
  })

  it('has the requested columns, of at most 200 characters', () => {
    const record = stored({ metadata: { long: 'x'.repeat(300), flag: false }, level: 'warn' })
    expect(
      createSummarizer({ columns: ['level', 'metadata.long', 'metadata.flag', 'service'] })(record).columns,
    ).toEqual({
      level: 'warn',
      'metadata.long': `${'x'.repeat(199)}…`,
      'metadata.flag': 'false',
    })
    expect(summarizeEntry(record).columns).toBeUndefined()
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
