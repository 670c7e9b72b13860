/** Updates of the list: first page, stream, further pages, and failures. */
import { describe, expect, test, vi } from 'vitest'
import type { EntrySummary } from '../../../../src/service/query/api-types.js'
import type { Page } from '../../../../src/service/store/stored-record.js'
import { ApiError } from '../../../../src/service/viewer/api-error.js'
import { EntryFeed } from '../../../../src/service/viewer/live/entry-feed.js'
import type { LiveSource } from '../../../../src/service/viewer/live/live-stream.js'

const brief = (seq: number): EntrySummary => ({
  id: `e${seq}`,
  seq,
  received_at: '',
  timestamp: '',
  level: 'info',
  message: '',
})

/** A service that holds entries 1 to `newest`, and a clock that the test moves. */
function setup(newest: number) {
  const service = { newest, refusal: undefined as Error | undefined }
  const followed: LiveSource[] = []
  const later: (() => void)[] = []
  const asked: (string | undefined)[] = []
  const feed = new EntryFeed({
    page: async (_filters, cursor, limit): Promise<Page<EntrySummary>> => {
      asked.push(cursor)
      if (service.refusal !== undefined) throw service.refusal
      const top = cursor === undefined ? service.newest : Number(cursor) - 1
      const items = Array.from({ length: Math.min(limit, top) }, (_, index) => brief(top - index))
      const last = items.at(-1)?.seq ?? 1
      return { items, next: last > 1 ? String(last) : null }
    },
    follow: (source) => followed.push(source),
    changed: () => {},
    later: (_ms, call) => {
      later.push(call)
      return () => later.splice(later.indexOf(call), 1)
    },
  })
  const come = (seqs: readonly number[], skipped = 0): void => {
    service.newest = seqs.at(-1) ?? service.newest
    followed.at(-1)?.onEntries?.({ items: seqs.map(brief), skipped })
  }
  const isLoaded = () => vi.waitFor(() => expect(feed.isLoaded).toBe(true), { timeout: 10_000 })
  const top = (): number | undefined => feed.tail.at(0)?.seq
  return { feed, service, followed, later, asked, come, isLoaded, top }
}

test('the stream is followed from the newest of the first page on, so that nothing is missed between', async () => {
  const { feed, followed, come, isLoaded, top } = setup(300)
  feed.show({ service: 'shop' })
  await isLoaded()
  expect(followed).toMatchObject([{ parameters: { service: 'shop' }, after: 300 }])
  come([301, 302])
  expect([feed.tail.length, top()]).toEqual([202, 302])
})

test('of an empty store, from the beginning', async () => {
  const { feed, followed, isLoaded } = setup(0)
  feed.show({})
  await isLoaded()
  expect(followed[0]?.after).toBe(0)
})

test('what an earlier source still brings is not taken for that of the filters now', async () => {
  const { feed, followed, isLoaded } = setup(10)
  feed.show({})
  await isLoaded()
  feed.show({ q: 'x' })
  followed[0]?.onEntries?.({ items: [brief(11)], skipped: 0 })
  await isLoaded()
  followed[0]?.onEntries?.({ items: [brief(12)], skipped: 0 })
  expect(feed.tail.at(0)?.seq).toBe(10)
})

test('pages are requested one at a time, and once', async () => {
  const { feed, asked, isLoaded } = setup(5000)
  feed.show({})
  await isLoaded()
  feed.need(190, 200)
  feed.need(190, 200)
  await vi.waitFor(() => expect(feed.tail.length).toBe(700), { timeout: 10_000 })
  expect(asked).toEqual([undefined, '4801'])
})

describe('more than can be followed', () => {
  test('loads the list again, at most once in a while', async () => {
    const { feed, later, asked, come, isLoaded, top } = setup(300)
    feed.show({})
    await isLoaded()
    come([5000], 4699)
    come([9000], 3999)
    expect(later).toHaveLength(1)
    later[0]?.()
    await vi.waitFor(() => expect(feed.tail.isTorn).toBe(false), { timeout: 10_000 })
    expect([asked.length, top()]).toEqual([2, 9000])
  })

  test('while the list is paused nothing is loaded until it resumes', async () => {
    const { feed, later, come, isLoaded, top } = setup(300)
    feed.show({})
    await isLoaded()
    feed.hold()
    come([5000], 4699)
    expect([later.length, feed.tail.waiting, top()]).toEqual([0, 4700, 300])
    feed.release()
    await vi.waitFor(() => expect(top()).toBe(5000), { timeout: 10_000 })
    expect(feed.tail.waiting).toBe(0)
  })
})

test('a reset empties the list and begins again', async () => {
  const { feed, service, followed, isLoaded } = setup(300)
  feed.show({})
  await isLoaded()
  service.newest = 0
  followed[0]?.onReset?.()
  expect(feed.tail.length).toBe(0)
  await vi.waitFor(() => expect(followed).toHaveLength(2), { timeout: 10_000 })
  expect(followed[1]?.after).toBe(0)
})

describe('what cannot be loaded', () => {
  test('is tried again once the service can be reached', async () => {
    const { feed, service, followed, isLoaded, top } = setup(7)
    service.refusal = new TypeError('fetch failed')
    feed.show({})
    await vi.waitFor(() => expect(followed).toHaveLength(1), { timeout: 10_000 })
    expect([feed.error?.message, feed.isLoaded]).toEqual(['fetch failed', false])
    service.refusal = undefined
    followed[0]?.onOpen?.()
    await isLoaded()
    expect([top(), feed.error, followed.length]).toEqual([7, undefined, 2])
  })

  test('because of the filters does not end the stream', async () => {
    const { feed, service, followed } = setup(7)
    service.refusal = new ApiError(400, 'level must be one of …')
    feed.show({ level: 'loud' })
    await vi.waitFor(() => expect(followed).toHaveLength(1), { timeout: 10_000 })
    expect([followed[0]?.parameters, followed[0]?.onOpen, feed.error?.message]).toEqual([
      {},
      undefined,
      'level must be one of …',
    ])
  })

  test('a page that fails is requested again after a delay', async () => {
    const { feed, service, later, asked, isLoaded } = setup(5000)
    feed.show({})
    await isLoaded()
    service.refusal = new TypeError('fetch failed')
    feed.need(190, 200)
    await vi.waitFor(() => expect(feed.error).toBeDefined(), { timeout: 10_000 })
    service.refusal = undefined
    feed.need(190, 200)
    expect([asked.length, later.length]).toEqual([2, 1])
    later[0]?.()
    feed.need(190, 200)
    await vi.waitFor(() => expect(feed.tail.length).toBe(700), { timeout: 10_000 })
    expect(feed.error).toBeUndefined()
  })
})

test('closed, nothing is loaded any more', async () => {
  const { feed, later, followed, come, isLoaded } = setup(300)
  feed.show({})
  await isLoaded()
  come([5000], 4699)
  feed.close()
  expect([later, followed.length]).toEqual([[], 1])
})

test('resets one after the other load the list once, and once more when the time has come', async () => {
  const { feed, followed, later, asked, isLoaded } = setup(0)
  feed.show({})
  await isLoaded()
  for (let count = 0; count < 5; count++) {
    followed.at(-1)?.onReset?.()
    await isLoaded()
    await Promise.resolve()
  }
  expect(asked).toHaveLength(2)
  later.shift()?.()
  await vi.waitFor(() => expect(asked).toHaveLength(3), { timeout: 10_000 })
  later.shift()?.()
  await isLoaded()
  expect(asked).toHaveLength(3)
})
