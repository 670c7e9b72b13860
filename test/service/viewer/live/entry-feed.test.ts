/** Updates of the list: first page, stream, further pages, and failures. */
import { describe, expect, test, vi } from 'vitest'
import type { EntrySummary } from '../../../../src/service/query/api-types.js'
import { ApiError } from '../../../../src/service/viewer/api-error.js'
import { EntryFeed } from '../../../../src/service/viewer/live/entry-feed.js'
import type { FeedSource } from '../../../../src/service/viewer/live/entry-feed.js'
import { NO_FILTER } from '../../../../src/service/viewer/view.js'
import { createEntry, keyOf, ModelStore, START_MS } from './tail-model.js'
import type { LiveSource } from '../../../../src/service/viewer/live/live-stream.js'

const ALL: FeedSource = { filter: NO_FILTER, muted: [], columns: [], around: null }
const withQuery = (q: string): FeedSource => ({ ...ALL, filter: { ...NO_FILTER, q } })

/** A service with `count` entries, 1 ms apart, and a clock that the test controls. */
function setup(count: number) {
  const store = new ModelStore()
  for (let seq = 1; seq <= count; seq++) store.add(START_MS + seq)
  const service = { store, refusal: undefined as Error | undefined, nowMs: START_MS + count }
  const followed: LiveSource[] = []
  const later: (() => void)[] = []
  const asked: unknown[] = []
  const feed = new EntryFeed({
    page: async (parameters) => {
      asked.push(parameters)
      if (service.refusal !== undefined) throw service.refusal
      const { limit, cursor, newer } = parameters as { limit: number; cursor?: string; newer?: string }
      if (newer !== undefined) {
        const items = service.store.newer(limit, newer)
        return { items, next: items.length < limit ? null : keyOf(items[0] as EntrySummary), last_seq: 0 }
      }
      const page = service.store.page(limit, cursor)
      const last = page.items.at(-1)
      return { items: page.items, next: page.hasOlder && last ? keyOf(last) : null, last_seq: page.lastSeq }
    },
    context: async (id, { limit }) => {
      const sorted = service.store.sorted()
      const at = sorted.findIndex((entry) => entry.id === id)
      if (at === -1) throw new ApiError(404, 'no such entry')
      const from = Math.max(0, at - Number(limit) / 2)
      const items = sorted.slice(from, from + Number(limit))
      const key = (index: number): string => keyOf(items.at(index) as EntrySummary)
      const hasOlder = from + items.length < sorted.length
      return { items, newer: from === 0 ? null : key(0), older: hasOlder ? key(-1) : null }
    },
    follow: (source) => followed.push(source),
    changed: () => feed.merge(),
    later: (_ms, call) => {
      later.push(call)
      return () => later.splice(later.indexOf(call), 1)
    },
    now: () => service.nowMs,
  })
  /** Stores entries up to `newest`; the stream sends the last `items`. */
  const come = (newest: number, items: number, skipped = 0): void => {
    while (store.entries.length < newest) store.add(START_MS + store.entries.length + 1)
    followed.at(-1)?.onEntries?.({ items: store.entries.slice(-items), skipped })
  }
  const isLoaded = () => vi.waitFor(() => expect(feed.isLoaded).toBe(true), { timeout: 10_000 })
  const top = (): number | undefined => feed.tail.rows[0]?.seq
  return { feed, service, followed, later, asked, come, isLoaded, top }
}

test('the stream starts after the newest entry of the first page, without a gap', async () => {
  const { feed, followed, come, isLoaded, top } = setup(300)
  feed.show(withQuery('service:shop'))
  await isLoaded()
  expect(followed).toMatchObject([{ parameters: { q: 'service:shop' }, after: 300 }])
  come(302, 2)
  expect([feed.tail.rows.length, top()]).toEqual([202, 302])
})

test('for an empty store, the stream starts at the beginning', async () => {
  const { feed, followed, isLoaded } = setup(0)
  feed.show(ALL)
  await isLoaded()
  expect(followed[0]?.after).toBe(0)
})

test('events of a previous source are ignored', async () => {
  const { feed, followed, isLoaded } = setup(10)
  feed.show(ALL)
  await isLoaded()
  feed.show(withQuery('x'))
  followed[0]?.onEntries?.({ items: [createEntry(11)], skipped: 0 })
  await isLoaded()
  followed[0]?.onEntries?.({ items: [createEntry(12)], skipped: 0 })
  expect(feed.tail.rows[0]?.seq).toBe(10)
})

test('pages are requested once, one at a time', async () => {
  const { feed, asked, isLoaded } = setup(5000)
  feed.show(ALL)
  await isLoaded()
  feed.need(200)
  feed.need(200)
  await vi.waitFor(() => expect(feed.tail.rows.length).toBe(700), { timeout: 10_000 })
  expect(asked).toEqual([{ limit: 200 }, { cursor: keyOf(createEntry(4801)), limit: 500 }])
})

describe('more entries than the page can follow', () => {
  test('reload the list, at most once a second', async () => {
    const { feed, later, asked, come, isLoaded, top } = setup(300)
    feed.show(ALL)
    await isLoaded()
    come(5000, 1, 4699)
    come(9000, 1, 3999)
    expect(later).toHaveLength(1)
    later[0]?.()
    await vi.waitFor(() => expect(feed.tail.isTorn).toBe(false), { timeout: 10_000 })
    expect([asked.length, top()]).toEqual([2, 9000])
  })

  test('are not loaded while the list is paused', async () => {
    const { feed, later, asked, come, isLoaded, top } = setup(300)
    feed.show(ALL)
    await isLoaded()
    feed.freeze(true)
    come(5000, 1, 4699)
    later.shift()?.()
    expect([asked.length, feed.tail.waiting, top()]).toEqual([1, 4700, 300])
    feed.freeze(false)
    await vi.waitFor(() => expect(top()).toBe(5000), { timeout: 10_000 })
    expect(feed.tail.waiting).toBe(0)
  })
})

describe('a failed load', () => {
  test('is retried once the service is reachable', async () => {
    const { feed, service, followed, isLoaded, top } = setup(7)
    service.refusal = new TypeError('fetch failed')
    feed.show(ALL)
    await vi.waitFor(() => expect(followed).toHaveLength(1), { timeout: 10_000 })
    expect([feed.error?.message, feed.isLoaded]).toEqual(['fetch failed', false])
    service.refusal = undefined
    followed[0]?.onOpen?.()
    await isLoaded()
    expect([top(), feed.error, followed.length]).toEqual([7, undefined, 2])
  })

  test('due to the filters does not end the stream', async () => {
    const { feed, service, followed } = setup(7)
    service.refusal = new ApiError(400, 'level must be one of …')
    feed.show(withQuery('level:loud'))
    await vi.waitFor(() => expect(followed).toHaveLength(1), { timeout: 10_000 })
    expect([followed[0]?.parameters, followed[0]?.onOpen, feed.error?.message]).toEqual([
      {},
      undefined,
      'level must be one of …',
    ])
  })

  test('of a page is retried after a delay', async () => {
    const { feed, service, later, asked, isLoaded } = setup(5000)
    feed.show(ALL)
    await isLoaded()
    service.refusal = new TypeError('fetch failed')
    feed.need(200)
    await vi.waitFor(() => expect(feed.error).toBeDefined(), { timeout: 10_000 })
    service.refusal = undefined
    feed.need(200)
    expect([asked.length, later.length]).toEqual([2, 1])
    later[0]?.()
    feed.need(200)
    await vi.waitFor(() => expect(feed.tail.rows.length).toBe(700), { timeout: 10_000 })
    expect(feed.error).toBeUndefined()
  })
})

test('a reset empties the list, and loads it at most once a second', async () => {
  const { feed, service, followed, later, asked, isLoaded } = setup(3)
  feed.show(ALL)
  await isLoaded()
  for (let count = 0; count < 5; count++) followed.at(-1)?.onReset?.()
  expect([feed.tail.rows.length, asked.length, later.length]).toEqual([0, 1, 1])
  service.nowMs += 1000
  later.shift()?.()
  await isLoaded()
  expect(asked).toHaveLength(2)
})

test('columns are requested with every page and from the stream', async () => {
  const { feed, followed, asked, isLoaded } = setup(500)
  feed.show({ ...ALL, columns: ['user.id', 'metadata.orderId'] })
  await isLoaded()
  feed.need(200)
  await vi.waitFor(() => expect(feed.tail.rows.length).toBe(500), { timeout: 10_000 })
  const columns = 'user.id,metadata.orderId'
  expect(asked).toMatchObject([{ columns }, { columns }])
  expect(followed[0]?.parameters).toEqual({ columns })
})

test('a sliding window removes rows as time passes, unless the list is held', async () => {
  const { feed, service, asked, isLoaded } = setup(100)
  feed.show({ ...ALL, filter: { ...NO_FILTER, last: '5m' } })
  await isLoaded()
  expect(asked).toEqual([{ since: new Date(service.nowMs - 300_000).toISOString(), limit: 200 }])
  feed.freeze(true)
  service.nowMs = START_MS + 300_000 + 91
  feed.merge()
  expect(feed.tail.rows.length).toBe(100)
  feed.freeze(false)
  expect([feed.tail.rows.length, feed.tail.rows[9]?.seq]).toEqual([10, 91])
})

test('muted entries are left out of pages and stream', async () => {
  const { feed, followed, asked, isLoaded } = setup(10)
  feed.show({ ...withQuery('a OR b'), muted: ['logger:queue'] })
  await isLoaded()
  const q = '(a OR b) -(logger:queue)'
  expect([asked, followed[0]?.parameters]).toEqual([[{ q, limit: 200 }], { q }])
})

describe('around an entry', () => {
  test('all entries are shown, without the stream; newer ones are loaded on demand', async () => {
    const { feed, followed, isLoaded, top } = setup(450)
    feed.show({ ...withQuery('level:error'), around: 'e150' })
    await isLoaded()
    expect([top(), feed.tail.indexOf('e150'), feed.newer === null]).toEqual([250, 100, false])
    expect(followed.map(({ parameters, onEntries }) => [parameters, onEntries])).toEqual([[{}, undefined]])
    feed.needNewer()
    await vi.waitFor(() => expect(top()).toBe(450), { timeout: 10_000 })
    expect(feed.newer).not.toBeNull()
    feed.needNewer()
    await vi.waitFor(() => expect(feed.newer).toBeNull(), { timeout: 10_000 })
    expect(feed.tail.rows.length).toBe(450 - 50)
  })

  test("that is not stored: the service's error is shown", async () => {
    const { feed } = setup(10)
    feed.show({ ...ALL, around: 'gone' })
    await vi.waitFor(() => expect(feed.error?.message).toBe('no such entry'), { timeout: 10_000 })
  })
})

test('the same source continues after the last entry without loading a page; a closed one is loaded', async () => {
  const { feed, followed, asked, come, isLoaded } = setup(300)
  feed.show(ALL)
  await isLoaded()
  feed.freeze(true)
  come(310, 10)
  feed.show(ALL)
  expect([followed.length, followed[1]?.after, asked.length]).toEqual([2, 310, 1])
  feed.close()
  feed.show(ALL)
  await isLoaded()
  expect(asked).toHaveLength(2)
})

test('while another query loads, the feed is not loaded and has no error', async () => {
  const { feed, service, isLoaded } = setup(10)
  service.refusal = new ApiError(400, 'wrong')
  feed.show(withQuery('level:('))
  await vi.waitFor(() => expect(feed.error).toBeDefined(), { timeout: 10_000 })
  service.refusal = undefined
  feed.show(withQuery('a'))
  expect([feed.isLoaded, feed.error]).toEqual([false, undefined])
  await isLoaded()
  feed.show(withQuery('b'))
  expect(feed.isLoaded).toBe(false)
})
