/** Parameters of a URL become queries, or are refused with what is wrong; and what a brief shows of an entry. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { summarizeEntry } from '../../../src/service/query/entry-summary.js'
import * as read from '../../../src/service/query/url-parameters.js'
import { validateEntry } from '../../../src/service/ingest/validate.js'
import { entryOf } from '../support.js'

const of = (text: string): URLSearchParams => new URLSearchParams(text)

describe('parameters', () => {
  it.each<[string, unknown, unknown]>([
    [
      'a list',
      read.readEntryListQuery(of('level=error,fatal&service=a&fingerprint=f&q=x&limit=7&cursor=9')),
      {
        isBrief: false,
        query: { level: ['error', 'fatal'], service: 'a', fingerprint: 'f', q: 'x', limit: 7, cursor: '9' },
      },
    ],
    ['a brief list', read.readEntryListQuery(of('view=brief')), { isBrief: true, query: {} }],
    [
      'counts',
      read.readEntryFilter(of('tag=a%2Cb&trace_id=t&request_id=&release_id=r&version=1&environment=e')),
      { tag: 'a,b', trace_id: 't', request_id: '', release_id: 'r', version: '1', environment: 'e' },
    ],
    [
      'a histogram',
      read.readHistogramQuery(of('since=2026-01-31T08:00:00Z&buckets=500')),
      { filter: { since: '2026-01-31T08:00:00Z' }, maxBuckets: 500 },
    ],
    ['a histogram as it comes', read.readHistogramQuery(of('')), { filter: {}, maxBuckets: 60 }],
    ['values', read.readValuesQuery(of('level=info&limit=1000')), { filter: { level: ['info'] }, limit: 1000 }],
    ['values as they come', read.readValuesQuery(of('')), { filter: {}, limit: 100 }],
    ['a field', read.readValueField('tag'), 'tag'],
    ['error groups', read.readErrorGroupsQuery(of('cursor=1.2&limit=1')), { cursor: '1.2', limit: 1 }],
    [
      'routes',
      read.readRequestFilter(of('service=a&environment=b&since=c&until=d')),
      { service: 'a', environment: 'b', since: 'c', until: 'd' },
    ],
    [
      'latency',
      read.readLatencyQuery(of('method=GET&route=%2Fa%2F%3Aid&until=d&buckets=1')),
      { query: { method: 'GET', route: '/a/:id', until: 'd' }, maxBuckets: 1 },
    ],
    ['a page', read.readPageQuery(of('limit=2&cursor=3')), { limit: 2, cursor: '3' }],
    ['a stream', read.readStreamQuery(of('level=warn&after=12')), { filter: { level: ['warn'] }, afterSeq: 12 }],
    ['a stream from now on', read.readStreamQuery(of('')), { filter: {}, afterSeq: undefined }],
  ])('of %s', (_, query, expected) => {
    expect(query).toEqual(expected)
  })

  it.each<[string, () => unknown, string]>([
    ['an unknown name', () => read.readEntryFilter(of('colour=red')), 'parameter must be one of'],
    ['a name of another query', () => read.readEntryFilter(of('limit=1')), '"limit"'],
    ['one given twice', () => read.readPageQuery(of('limit=1&limit=2')), 'limit must be given once, got "2"'],
    ['a name of every object', () => read.readPageQuery(of('constructor=1')), '"constructor"'],
    ['another view', () => read.readEntryListQuery(of('view=long')), 'view must be brief'],
    ['no limit at all', () => read.readPageQuery(of('limit=')), 'limit must be an integer from 1 to 1000, got ""'],
    ['a limit of none', () => read.readPageQuery(of('limit=0')), 'got "0"'],
    ['too high a limit', () => read.readValuesQuery(of('limit=1001')), 'got "1001"'],
    ['a limit in words', () => read.readPageQuery(of('limit=1e2')), 'got "1e2"'],
    [
      'too many buckets',
      () => read.readHistogramQuery(of('buckets=501')),
      'buckets must be an integer from 1 to 500, got "501"',
    ],
    [
      'an unknown field',
      () => read.readValueField('trace_id'),
      'field must be one of service, environment, version, release_id, tag',
    ],
    ['latency of no method', () => read.readLatencyQuery(of('route=/')), 'method must be given'],
    ['latency of no route', () => read.readLatencyQuery(of('method=GET')), 'route must be given'],
    ['what is no seq', () => read.readStreamQuery(of('after=-1')), 'after must be the seq of an entry, got "-1"'],
  ])('are refused: %s', (_, wrong, message) => {
    expect(wrong).toThrow(expect.objectContaining({ code: 'QUERY', message: expect.stringContaining(message) }))
  })
})

describe('a brief', () => {
  const stored = (fields: Parameters<typeof entryOf>[0]) => ({
    id: 'ent_run_1',
    seq: 1,
    received_at: '2026-01-31T08:00:00.000Z',
    batch_id: 'b',
    entry: entryOf(fields),
  })

  it('leaves out what the entry lacks', () => {
    expect(summarizeEntry(stored({ tags: [], breadcrumbs: [], trace: {} }))).toEqual({
      id: 'ent_run_1',
      seq: 1,
      received_at: '2026-01-31T08:00:00.000Z',
      level: 'info',
      message: 'hello',
      timestamp: '2026-01-31T08:00:00.000Z',
    })
  })

  it('has what a row shows, at a bounded length, and nothing else', () => {
    const long = 'x'.repeat(1000)
    const brief = summarizeEntry(
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
    expect(brief).toMatchObject({
      service: 's',
      environment: 'e',
      version: 'v',
      release_id: 'r',
      request_id: 'q',
      tags: ['t'],
      trace_id: 't',
      breadcrumbs: 2,
      request: { method: 'GET', status_code: 200, duration_ms: 1.5 },
    })
    expect([
      brief.message.length,
      brief.error?.type?.length,
      brief.error?.message?.length,
      brief.request?.path?.length,
    ]).toEqual([500, 200, 200, 200])
    expect(JSON.stringify(brief)).not.toMatch(/stack|url|ip"|metadata|user/)
  })

  it('cuts every text, and leaves what is short enough as it is', () => {
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
    const quoted = '"\\\n\t'.repeat(25)
    expect(texts(quoted)).toEqual({ tags: Array(20).fill(quoted), others: Array(8).fill(quoted) })
    expect(texts('é💥'.repeat(60)).others[0]).toHaveLength(180)
    expect(texts('💥'.repeat(101)).others[0]).toBe(`${'💥'.repeat(99)}…`)
  })

  it('is below 16 KiB as JSON, whatever the entry', () => {
    // What JSON writes as six characters, as two, as one; in UTF-8 of one byte to four.
    const unit = fc.constantFrom('\u001b', '\u007f', '"', '\\', '\n', 'x', 'é', '…', '💥')
    const text = fc
      .tuple(fc.array(unit, { minLength: 1, maxLength: 3 }), fc.constantFrom(0, 1, 30, 100, 300, 100_000))
      .map(([units, times]) => units.join('').repeat(times))
    const number = fc.double({ noNaN: true, noDefaultInfinity: true })
    const optional = <T extends object>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
      fc.record(fields, { requiredKeys: [] })
    const entry = optional({
      level: fc.constantFrom('debug', 'info', 'warn', 'error', 'fatal'),
      message: text,
      timestamp: fc.constantFrom('2026-01-31T08:00:00.123456789+00:00'),
      service: text,
      environment: text,
      version: text,
      release_id: text,
      request_id: text,
      action: text,
      source: text,
      error: optional({ type: text, message: text, stack: text }),
      request: optional({ method: text, path: text, url: text, status_code: fc.maxSafeInteger(), duration_ms: number }),
      trace: optional({ trace_id: text, span_id: text }),
      tags: fc.array(text, { maxLength: 40 }),
      breadcrumbs: fc.array(fc.constant({}), { maxLength: 5 }),
      metadata: fc.dictionary(fc.string(), text, { maxKeys: 3 }),
    })
    const sizeOf = (fields: object): number => {
      const record = stored(fields)
      expect(validateEntry(record.entry)).toEqual([])
      const json = JSON.stringify(summarizeEntry(record))
      expect(json.isWellFormed()).toBe(true)
      return json.length
    }
    fc.assert(
      fc.property(entry, (fields) => {
        expect(sizeOf(fields)).toBeLessThan(16_384)
      }),
      { numRuns: 200 },
    )
    for (const one of ['\u001b', '"', '💥']) {
      const all = one.repeat(100_000)
      expect(
        sizeOf({
          message: all,
          service: all,
          environment: all,
          version: all,
          release_id: all,
          request_id: all,
          trace: { trace_id: all },
          error: { type: all, message: all },
          request: {
            method: all,
            path: all,
            status_code: -Number.MAX_SAFE_INTEGER,
            duration_ms: -1.7976931348623157e308,
          },
          tags: Array.from({ length: 100 }, () => all),
          breadcrumbs: [{}],
        }),
        one,
      ).toBeLessThan(16_384)
    }
  })
})
