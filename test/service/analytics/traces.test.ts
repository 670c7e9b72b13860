/** Traces over services: spans, durations, the list and its pages. */
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { StoreReader } from '../../../src/service/store-reader.js'
import { Store } from '../../../src/service/store/store.js'
import { entryOf } from '../support.js'

const START_MS = Date.parse('2026-01-31T08:00:00.000Z')
const iso = (ms: number): string => new Date(START_MS + ms).toISOString()

/** Stores entries in this order, each with its time in milliseconds. */
function open(...entries: readonly (readonly [number, Partial<LogEntry>])[]): StoreReader {
  const store = new Store({
    maxEntries: 10_000,
    maxBytes: 1 << 26,
    onProblem: (message) => expect.unreachable(message),
  })
  const records = entries.map(([ms, fields], n) => ({
    id: `ent_${n + 1}`,
    seq: n + 1,
    received_at: iso(0),
    batch_id: null,
    entry: entryOf({ timestamp: iso(ms), ...fields }),
  }))
  if (records.length > 0) store.append('entry', records, 100 * records.length)
  return new StoreReader(store)
}

const trace = (span_id?: string, parent_span_id?: string) => ({
  trace: {
    trace_id: 't',
    ...(span_id !== undefined && { span_id }),
    ...(parent_span_id !== undefined && { parent_span_id }),
  },
})

describe('one trace', () => {
  const shop = { service: 'shop', ...trace('a') }
  const pay = { service: 'pay', ...trace('b', 'a') }
  const reader = open(
    [200, { ...shop, message: 'request completed', request: { method: 'POST', path: '/orders', duration_ms: 190.5 } }],
    [120, { ...pay, level: 'error', message: 'card declined', error: { type: 'Declined' } }],
    [40, { ...pay, message: 'charge' }],
    [150, { service: 'mail', message: 'queued', ...trace('c', 'b') }],
    [160, { service: 'mail', message: 'no span', ...trace() }],
    [165, { service: 'db', message: 'query', perf: { duration_ms: 5 }, ...trace('d', 'a') }],
    [170, { message: 'of another trace', trace: { trace_id: 'u', span_id: 'a' } }],
  )
  const found = reader.trace('t')

  it('has its spans over all services, by start', () => {
    expect(
      found?.spans.map(({ span_id, parent_span_id, service, name, started_at, duration_ms, level, entries }) => [
        span_id,
        parent_span_id,
        service,
        name,
        Date.parse(started_at) - START_MS,
        duration_ms,
        level,
        entries.map(({ message }) => message),
      ]),
    ).toEqual([
      ['a', null, 'shop', 'POST /orders', 9, 190.5, 'info', ['request completed']],
      ['b', 'a', 'pay', 'charge', 40, 80, 'error', ['charge', 'card declined']],
      ['c', 'b', 'mail', 'queued', 150, null, 'info', ['queued']],
      ['d', 'a', 'db', 'query', 160, 5, 'info', ['query']],
    ])
    expect(found).toMatchObject({ trace_id: 't', duration_ms: 190.5, omitted: 0 })
    expect(found?.entries.map(({ message }) => message)).toEqual(['no span'])
  })

  it('has a span for each request with a duration, if the application logs no span ids', () => {
    const request = (pid: number, service: string) => ({
      service,
      request_id: '1',
      trace: { trace_id: 't', parent_span_id: 'of-the-caller' },
      metadata: { pid, hostname: 'laptop' },
    })
    const ends = (path: string, duration_ms: number) => ({ request: { method: 'POST', path, duration_ms } })
    const flat = open(
      [10, { ...request(1, 'shop'), message: 'voucher applied' }],
      [72, { ...request(1, 'shop'), ...ends('/orders', 72) }],
      [50, { ...request(2, 'pay'), ...ends('/charges', 30) }],
      [60, { ...request(3, 'pay'), ...ends('/charges', 5) }],
      [65, { service: 'mail', message: 'queued', trace: { trace_id: 't' } }],
      [66, { service: 'mail', message: 'sent', perf: { duration_ms: 4 }, trace: { trace_id: 't' } }],
    ).trace('t')
    expect(
      flat?.spans.map(({ name, started_at, duration_ms, parent_span_id, entries }) => [
        name,
        Date.parse(started_at) - START_MS,
        duration_ms,
        parent_span_id,
        entries.length,
      ]),
    ).toEqual([
      ['POST /orders', 0, 72, null, 2],
      ['POST /charges', 20, 30, null, 1],
      ['POST /charges', 55, 5, null, 1],
      ['sent', 62, 4, null, 1],
    ])
    expect(flat?.entries.map(({ message }) => message)).toEqual(['queued'])
  })

  it('is named after its root span, although an inner request ends first', () => {
    const request = (method: string, path: string, duration_ms: number) => ({ request: { method, path, duration_ms } })
    const inner = [100, { ...pay, ...request('POST', '/orders', 60) }] as const
    const outer = [200, { ...shop, ...request('POST', '/checkout', 190) }] as const
    const named = open(inner, outer)
    expect(named.trace('t')?.name).toBe('POST /checkout')
    expect(named.traces({}).items[0]?.name).toBe('POST /checkout')
    // The caller's span is not logged.
    const called = { ...shop, ...trace('a', 'browser'), ...request('GET', '/cart', 190) }
    expect(open(inner, [200, called]).trace('t')?.name).toBe('GET /cart')
    // Without spans, the request that started first.
    const requests = [request('GET', '/inner', 20), request('GET', '/first', 195), request('GET', '/later', 30)]
    const flat = requests.map((one, n) => [100 * (n + 1), { ...trace(), ...one }] as const)
    expect(open(...flat).trace('t')?.name).toBe('GET /first')
  })

  it('is listed by start, duration or errors, in pages', () => {
    const of = (trace_id: string, duration_ms: number) => ({ trace: { trace_id }, perf: { duration_ms } })
    const listed = open(
      [1000, of('short', 5)],
      [500, { ...of('long', 400), level: 'error' }],
      [900, { ...of('failed', 20), level: 'error' }],
      [910, { ...of('failed', 20), level: 'error' }],
    )
    const ids = (sort?: string) => listed.traces({ sort }).items.map(({ trace_id }) => trace_id)
    expect(ids()).toEqual(['short', 'failed', 'long'])
    expect(ids('duration')).toEqual(['long', 'failed', 'short'])
    expect(ids('errors')).toEqual(['failed', 'long', 'short'])
    const first = listed.traces({ sort: 'errors', limit: 1 })
    const second = listed.traces({ sort: 'errors', limit: 1, cursor: first.next ?? '' })
    expect([...first.items, ...second.items].map(({ trace_id }) => trace_id)).toEqual(['failed', 'long'])
    expect(() => ids('name')).toThrow('sort')
  })

  it('is undefined without entries, and has a bounded number of entries', () => {
    expect(reader.trace('none')).toBeUndefined()
    const many = open(...Array.from({ length: 2500 }, (_, n) => [n, trace('a')] as const)).trace('t')
    expect([many?.spans[0]?.entries.length, many?.omitted, many?.duration_ms]).toEqual([2000, 500, 2499])
  })

  it.each<[Partial<LogEntry>, number | null]>([
    [{ metadata: { responseTime: 30 } }, 30],
    [{ metadata: { duration_ms: 12.25 }, perf: { duration_ms: 40 } }, 40],
    [{ metadata: { duration_ms: '12' } }, null],
    [{ request: { duration_ms: -1 } }, null],
    [{ request: { duration_ms: 1e21 } }, null],
    [{ request: { duration_ms: 0 } }, 0],
  ])('uses the duration of %j', (fields, expected) => {
    expect(open([100, { ...trace('a'), ...fields }]).trace('t')?.spans[0]?.duration_ms).toBe(expected)
  })
})

describe('the list of traces', () => {
  it('has the latest start first, and counts all entries of each trace', () => {
    const of = (trace_id: string, fields: Partial<LogEntry> = {}) => ({ trace: { trace_id }, ...fields })
    const reader = open(
      [10, of('a', { service: 'shop', message: 'first' })],
      [50, of('b', { service: 'pay', action: 'refund' })],
      [60, of('a', { service: 'pay', level: 'error' })],
      [55, of('c', { service: 'x', request: { method: 'GET', path: '/', duration_ms: 54 } })],
      [70, {}],
    )
    const a = { trace_id: 'a', started_at: iso(10), duration_ms: 50, entries: 2, errors: 1, name: 'first' }
    const b = { trace_id: 'b', started_at: iso(50), duration_ms: 0, entries: 1, errors: 0, name: 'refund' }
    const c = { trace_id: 'c', started_at: iso(1), duration_ms: 54, entries: 1, errors: 0, name: 'GET /' }
    expect(reader.traces({}).items[1]?.services).toEqual(['shop', 'pay'])
    expect(reader.traces({})).toMatchObject({ items: [b, a, c], next: null })
    expect(reader.traces({ level: 'error' }).items).toMatchObject([a])
    expect(reader.traces({ service: 'pay' }).items).toMatchObject([b, a])
    expect(reader.traces({ service: 'none' }).items).toEqual([])
    const pages = [reader.traces({ limit: 2 })]
    pages.push(reader.traces({ limit: 2, cursor: pages[0]?.next ?? '' }))
    expect(pages.map(({ items }) => items)).toMatchObject([[b, a], [c]])
    expect(() => reader.traces({ cursor: '1-1' })).toThrow(expect.objectContaining({ code: 'QUERY' }))
  })

  it('pages over traces of the same start and of fractions of a millisecond', () => {
    const reader = open(
      ...Array.from({ length: 30 }, (_, n): [number, Partial<LogEntry>] => [
        // Near 1970, starts have exponents.
        -START_MS + (n % 3),
        { trace: { trace_id: `t${n}` }, request: { path: '/', duration_ms: (n % 4) / 3e7 } },
      ]),
    )
    const walked: string[] = []
    let next: string | null = null
    do {
      const page = reader.traces({ limit: 4, ...(next !== null && { cursor: next }) })
      walked.push(...page.items.map(({ trace_id }) => trace_id))
      next = page.next
    } while (next !== null)
    expect(walked).toEqual(reader.traces({ limit: 100 }).items.map(({ trace_id }) => trace_id))
    expect(new Set(walked).size).toBe(30)
  })
})
