/** Queries of the store; lists and counts are compared with a reference implementation, over generated records. */
import fc from 'fast-check'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { RequestLog } from '../../src/protocol/resources.js'
import { formatTerm } from '../../src/service/query/language/index.js'
import { createSummarizer } from '../../src/service/query/entry-summary.js'
import type { EntryFilter } from '../../src/service/query/query-filters.js'
import { StoreReader } from '../../src/service/store-reader.js'
import { Store } from '../../src/service/store/store.js'
import type { Page, StoredEntry, StoredRequestLog } from '../../src/service/store/stored-record.js'
import { entry, fewFilters } from './query/queries-generated.js'
import * as expected from './query/queries-reference.js'
import { entryOf } from './support.js'

const LIMITS = { maxEntries: 10_000, maxBytes: 1 << 26 }
const NOW_MS = Date.parse('2026-01-31T09:30:00.000Z')
const unexpected = (message: string): never => {
  throw new Error(message)
}

const stored = (logs: readonly LogEntry[]): StoredEntry[] =>
  logs.map((one, n) => ({
    id: `ent_run_${(n + 1).toString(36)}`,
    seq: n + 1,
    received_at: '2026-01-31T09:00:00.000Z',
    batch_id: null,
    entry: one,
  }))
const storedRequests = (logs: readonly RequestLog[]): StoredRequestLog[] =>
  logs.map((request, n) => ({ id: `req_run_${n}`, seq: n + 1, received_at: '2026-01-31T09:00:00.000Z', request }))

const ofProcess = (service: string, pid: number, second: number): LogEntry =>
  entryOf({
    service,
    timestamp: new Date(NOW_MS + second * 1000).toISOString(),
    metadata: { pid, hostname: 'laptop' },
  })

const ask = <T>(fill: (store: Store) => void, answer: (reader: StoreReader, store: Store) => T): T => {
  const store = new Store({ ...LIMITS, onProblem: unexpected })
  fill(store)
  return answer(new StoreReader(store), store)
}
const withEntries = <T>(records: readonly StoredEntry[], answer: (reader: StoreReader, store: Store) => T): T =>
  ask((store) => store.append('entry', records, 100 * records.length), answer)
const allPages = <T>(page: (cursor: { cursor?: string }) => Page<T>): T[] => {
  const items: T[] = []
  let next: string | null = null
  do {
    const found: Page<T> = page(next === null ? {} : { cursor: next })
    items.push(...found.items)
    next = found.next
  } while (next !== null)
  return items
}
const holds = (check: (records: StoredEntry[], filter: EntryFilter, matching: StoredEntry[]) => void): void =>
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 30 }), fewFilters, (logs, filter) => {
      const records = stored(logs)
      check(
        records,
        filter as EntryFilter,
        records.filter((record) => expected.matches(filter as EntryFilter, record.entry)),
      )
    }),
    { numRuns: 150 },
  )

it('lists matching entries, newest first, in pages of any length, complete and as summaries', () => {
  holds((records, filter, matching) =>
    withEntries(records, (reader) => {
      const newestFirst = expected.byTime(matching).toReversed()
      const last_seq = records.length
      expect(allPages((cursor) => reader.entries({ ...filter, ...cursor, limit: 3 }))).toEqual(newestFirst)
      expect(reader.entries({ ...filter, limit: 30 })).toEqual({ items: newestFirst, next: null, last_seq })
      expect(reader.summaries({ ...filter, limit: 30 }).items).toEqual(newestFirst.map(createSummarizer(filter)))
    }),
  )
})

it('returns the newest entries after a seq, and the number of skipped ones', () => {
  holds((records, filter, matching) =>
    withEntries(records, (reader) => {
      const after = matching.filter(({ seq }) => seq > 3)
      expect(reader.entriesAfter(3, filter, 2)).toEqual({
        items: after.slice(-2),
        skipped: Math.max(0, after.length - 2),
      })
    }),
  )
})

it('counts by level', () => {
  holds((records, filter, matching) =>
    withEntries(records, (reader) => {
      expect(reader.counts(filter)).toEqual(expected.counts(matching))
    }),
  )
})

it('has the 8 groups with the most entries, one of all others, and counts outliers apart', () => {
  const groupOf = (n: number, timestamp = '2026-01-31T08:00:00Z') =>
    entryOf({ timestamp, user_id: `u-${n}`, perf: { duration_ms: n } })
  const logs = Array.from({ length: 12 }, (_, n) => Array.from({ length: 20 - n }, () => groupOf(n))).flat()
  const outliers = [groupOf(0, '2001-01-01T00:00:00Z'), groupOf(0, '2050-01-01T00:00:00Z')]
  withEntries(stored([...logs, ...outliers]), (reader) => {
    const { groups, others, before, after } = reader.chart({ chart: 'p50(perf.duration_ms) by user_id' })
    expect(groups.map(({ name, count, value }) => [name, count, value])).toEqual(
      Array.from({ length: 8 }, (_, n) => [`u-${n}`, 20 - n, n]),
    )
    // The durations 8, 9, 10 and 11 of 12, 11, 10 and 9 entries.
    expect(others).toMatchObject({ groups: 4, count: 42, value: 9 })
    expect([before, after]).toEqual([1, 1])
  })
})

it('draws in steps of a given length', () => {
  const logs = [0, 59, 61, 185].map((second) => ofProcess('shop', 1, second))
  withEntries(stored(logs), (reader) => {
    const { step_ms, groups } = reader.chart({ chart: 'count per 1m' })
    expect([step_ms, groups[0]?.values]).toEqual([60_000, [2, 1, 0, 1]])
    expect(() => reader.chart({ chart: 'count per 1ms' })).toThrow(expect.objectContaining({ code: 'QUERY' }))
  })
})

it('groups by route: the logged one, or the path with ids as *', () => {
  const routes = [{ path: '/orders/17?x=1' }, { path: '/orders/18' }, { url: 'https://shop.test/cart' }, {}]
  const logs = routes.map((request) => entryOf({ request: { ...request, duration_ms: 5 } }))
  withEntries(
    stored([...logs, entryOf({ metadata: { route: '/cart/:id' }, request: { path: '/cart/9' } })]),
    (reader) => {
      const { groups } = reader.chart({ chart: 'count by route' })
      expect(groups.map(({ name, count }) => [name, count])).toEqual([
        ['/orders/*', 2],
        [null, 1],
        ['/cart', 1],
        ['/cart/:id', 1],
      ])
      for (const { name } of groups) {
        const q = name === null ? '-route:*' : formatTerm('route', name)
        expect(reader.counts({ q }).total).toBe(groups.find((group) => group.name === name)?.count)
      }
      expect(reader.chart({ chart: 'max(duration)', q: 'route:/orders/*' })).toMatchObject({
        groups: [{ name: null, count: 2, value: 5 }],
      })
    },
  )
})

it('counts the values of a field', () => {
  holds((records, filter, matching) =>
    withEntries(records, (reader) => {
      for (const field of ['service', 'tag', 'user', 'metadata.key', 'key', 'error', 'level', 'timestamp', 'status']) {
        expect(reader.values({ ...filter, field })).toEqual(expected.values(matching, field, 100))
        expect(reader.values({ ...filter, field, limit: 2 })).toEqual(expected.values(matching, field, 2))
        expect(reader.values({ ...filter, field, prefix: 'O', limit: 2 })).toEqual(
          expected.values(matching, field, 2, 'o'),
        )
      }
    }),
  )
})

it('lists the fields of entries with their counts', () => {
  const logs = [
    entryOf({ service: 'a', user: { name: 'Ann' }, tags: [], metadata: { orderId: 1, user: { plan: 'x' }, at: 1 } }),
    entryOf({ level: 'error', metadata: { orderId: 2, lines: [{ sku: 'a' }, { sku: 'b' }], at: 'noon' } }),
  ]
  withEntries(stored(logs), (reader) => {
    expect(Object.fromEntries(reader.fields().map(({ name, type, count }) => [name, [type, count]]))).toEqual({
      level: ['level', 2],
      message: ['text', 2],
      timestamp: ['time', 2],
      received_at: ['time', 2],
      id: ['text', 2],
      seq: ['number', 2],
      service: ['text', 1],
      user: ['text', 1],
      'user.name': ['text', 1],
      fingerprint: ['text', 1],
      'metadata.orderId': ['number', 2],
      'metadata.user.plan': ['text', 1],
      'metadata.lines.sku': ['text', 1],
      'metadata.at': ['text', 2],
    })
    expect(reader.fields().filter(({ values }) => values !== undefined)).toMatchObject([
      { name: 'service', values: ['a'] },
    ])
    // A query can use every listed field.
    for (const { name, count } of reader.fields()) expect(reader.counts({ q: `${name}:*` }).total, name).toBe(count)
  })
})

it('groups failures by fingerprint, last seen first or most frequent first, with times, names and a trend', () => {
  const at = (second: number): string => new Date(NOW_MS + second * 1000).toISOString()
  const failure = (second: number, fields: Partial<LogEntry> = {}): LogEntry =>
    entryOf({ level: 'error', timestamp: at(second), fingerprint: 'twice', ...fields })
  const logs = [
    failure(60, { service: 'shop', version: '1', message: 'newest' }),
    failure(0, { service: 'mail' }),
    failure(90, { fingerprint: 'last' }),
    entryOf({ timestamp: at(10), fingerprint: 'info', error: { type: 'E', message: 'no' } }),
    entryOf({ timestamp: at(5), fingerprint: 'no failure' }),
  ]
  withEntries(stored(logs), (reader) => {
    const query = { since: at(0), until: at(240) }
    const { items } = reader.errorGroups(query)
    expect(items).toMatchObject([
      { fingerprint: 'last', count: 1 },
      {
        ...{ fingerprint: 'twice', is_given: true, level: 'error', type: null, message: 'newest', count: 2 },
        ...{ first_seen: at(0), last_seen: at(60), services: ['mail', 'shop'], versions: ['1'], newest: 'ent_run_1' },
        trend: Array.from({ length: 24 }, (_, n) => Number(n === 0 || n === 6)),
      },
      { fingerprint: 'info', type: 'E', message: 'no' },
    ])
    expect(allPages((cursor) => reader.errorGroups({ ...query, ...cursor, limit: 2 }))).toEqual(items)
    const byCount = [items[1], items[0], items[2]]
    expect(allPages((cursor) => reader.errorGroups({ ...query, ...cursor, sort: 'count', limit: 2 }))).toEqual(byCount)
  })
})

it('finds an entry by its own id, else by event_id', () => {
  holds((records) =>
    withEntries(records, (reader) => {
      for (const id of ['a', 'ent_run_1', 'ent_run_3', 'ent_other_1', '']) {
        const wanted =
          records.find((record) => record.id === id) ??
          records.findLast(({ entry: { metadata } }) => metadata?.['event_id'] === id)
        expect(reader.entry(id)?.seq).toBe(wanted?.seq)
      }
    }),
  )
})

it('summarizes monitors, last ping first', () => {
  const ping = (seq: number, monitor: string, second: number) => ({
    id: `hbt_${seq}`,
    seq,
    monitor,
    name: seq === 62 ? 'named' : null,
    received_at: new Date(NOW_MS + second * 1000).toISOString(),
  })
  const pings = [
    ...Array.from({ length: 60 }, (_, n) => ping(n + 1, 'often', n * n)),
    ping(61, 'once', 0),
    ping(62, 'twice', 1),
    ping(63, 'twice', 11),
  ]
  const { items } = ask(
    (store) => store.append('heartbeat', pings, 100),
    (reader) => reader.monitors(),
  )
  expect(items.map(({ monitor, name, pings: count, interval_ms }) => [name ?? monitor, count, interval_ms])).toEqual([
    ['named', 2, 10_000],
    ['once', 1, null],
    ['often', 60, 69_000],
  ])
  expect(items[2]).toMatchObject({ first_ping: pings[0]?.received_at, last_ping: pings[59]?.received_at })
  expect(items[2]?.recent).toEqual(
    pings
      .slice(10, 60)
      .map(({ received_at }) => received_at)
      .toReversed(),
  )
})

it('lists the runs, the newest start first, and finds the entries of those that run now', () => {
  const logs = [ofProcess('shop', 1, 0), ofProcess('shop', 1, 9), ofProcess('mail', 2, 3), entryOf({ service: 'shop' })]
  withEntries(stored(logs), (reader, store) => {
    const runs = () => reader.runs().items.map(({ run, entries, is_restart }) => [run, entries, is_restart])
    const found = (q: string) => reader.summaries({ q }).items.map(({ run }) => run)
    expect(runs()).toEqual([
      ['mail-2@laptop', 1, false],
      ['shop-1@laptop', 2, false],
    ])
    expect(found('run:last')).toEqual(['shop-1@laptop', 'mail-2@laptop', 'shop-1@laptop'])
    const next = { ...(stored([ofProcess('shop', 3, 10)])[0] as StoredEntry), id: 'next', seq: 9 }
    store.append('entry', [next], 100)
    expect(runs()[0]).toEqual(['shop-3@laptop', 1, true])
    expect(found('run:last')).toEqual(['shop-3@laptop', 'mail-2@laptop'])
    expect(found('-run:last run:*')).toEqual(['shop-1@laptop', 'shop-1@laptop'])
    expect(found('run:shop-1@laptop')).toHaveLength(2)
    expect(reader.values({ field: 'run' }).items.map(({ value }) => value)).not.toContain('last')
    expect(reader.runs().items[2]).toEqual({
      ...{ run: 'shop-1@laptop', service: 'shop', pid: '1', hostname: 'laptop', entries: 2, is_restart: false },
      first_seen: '2026-01-31T09:30:00.000Z',
      last_seen: '2026-01-31T09:30:09.000Z',
    })
    store.clear()
    expect(runs()).toEqual([])
  })
})

it.each<[string, string, string[], string[]]>([
  ['a process that starts after the last entry of another', '1@0 1@1 2@3', ['2'], ['2']],
  ['processes at once', '1@0 2@1 1@2', ['2', '1'], []],
  ['processes that arrive newest first', '1@3 2@2 1@1', ['2', '1'], []],
  ['a process that keeps logging after the last one is evicted', '1@0 2@1 1@2 1@3 1@4 1@5', ['1'], []],
])('runs: %s', (_, found, current, restarts) => {
  const store = new Store({ ...LIMITS, maxEntries: 4, onProblem: unexpected })
  const reader = new StoreReader(store)
  const logs = found.split(' ').map((one) => one.split('@').map(Number) as [number, number])
  store.append('entry', stored(logs.map(([pid, second]) => ofProcess('shop', pid, second))), 100)
  const values = reader.values({ q: 'run:last', field: 'metadata.pid' }).items
  expect(values.map(({ value }) => value).toSorted()).toEqual(current.toSorted())
  const runs = reader.runs().items
  expect(runs.filter(({ is_restart: isRestart }) => isRestart).map(({ pid }) => pid)).toEqual(restarts)
})

it('computes relative times again while nothing arrives', () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-01-31T10:00:00.000Z') })
  onTestFinished(() => void vi.useRealTimers())
  withEntries(stored([ofProcess('shop', 1, 0)]), (reader) => {
    const count = () => reader.counts({ q: 'timestamp:>-1h' }).total
    expect(count()).toBe(1)
    vi.setSystemTime('2026-01-31T10:40:00.000Z')
    expect(count()).toBe(0)
  })
})

it('limits the number of routes, names and users', () => {
  const many = Array.from({ length: 1200 }, (_, n) => n)
  const failures = many.map((n) =>
    entryOf({ level: 'error', service: `s${n}`, version: `v${n}`, user_id: `u${n}`, message: 'x'.repeat(600) }),
  )
  const [group] = withEntries(stored(failures), (reader) => reader.errorGroups({})).items
  expect([group?.count, group?.users, group?.services.length, group?.versions.length, group?.message.length]).toEqual([
    1200, 1000, 10, 10, 500,
  ])
  const logs = many.map((n): RequestLog => ({
    method: 'GET',
    path: `/${n}`,
    status_code: 200,
    duration_ms: n,
    request_id: 'r',
    timestamp: '2026-01-31T09:00:00Z',
  }))
  expect(
    ask(
      (store) => store.append('request', storedRequests(logs), 1),
      (reader) => reader.routes({}),
    ).items,
  ).toHaveLength(1000)
})

it.each<[string, (reader: StoreReader) => unknown]>([
  ['a cursor of another list', (reader: StoreReader) => reader.errorGroups({ cursor: '12' })],
  ['a cursor of groups', (reader: StoreReader) => reader.entries({ cursor: '1.2' })],
  ['a time', (reader: StoreReader) => reader.histogram({ since: 'noon' })],
  ['a day', (reader: StoreReader) => reader.histogram({ since: '2026-02-30T08:00:00Z' })],
  ['a time of requests', (reader: StoreReader) => reader.routes({ until: 'noon' })],
  ['a level', (reader: StoreReader) => reader.values({ field: 'tag', level: 'loud' as never })],
  ['an order of groups', (reader: StoreReader) => reader.errorGroups({ sort: 'users' })],
  ['a cursor of another order', (reader: StoreReader) => reader.errorGroups({ sort: 'count', cursor: '1.2' })],
  ['a cursor by count', (reader: StoreReader) => reader.errorGroups({ cursor: '3_1.2' })],
  ['a limit', (reader: StoreReader) => reader.errorGroups({ limit: 0 })],
])('refuses an invalid %s', (_, wrong) => {
  expect(() => ask(() => {}, wrong)).toThrow(expect.objectContaining({ code: 'QUERY' }))
})
