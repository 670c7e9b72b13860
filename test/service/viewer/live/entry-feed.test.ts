/** Updates of the list: first page, stream, further pages, and failures. */
import { describe, expect, test, vi } from 'vitest'
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
      const { limit, cursor } = parameters as { limit: number; cursor?: string }
      const page = service.store.page(limit, cursor)
      const last = page.items.at(-1)
      return { items: page.items, next: page.hasOlder && last ? keyOf(last) : null, last_seq: page.lastSeq }
    },
    context: () => expect.unreachable('no list around an entry'),
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
