/** Pages by time: no entry is missing or repeated while entries arrive and are dropped; the context of one entry. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { StoreReader } from '../../../src/service/store-reader.js'
import type { StoredEntry } from '../../../src/service/store/stored-record.js'
import { byTime } from './queries-reference.js'
import { openStore, START_MS, storedEntry } from '../store/open-store.js'
import { requestLog } from '../support.js'

const iso = (second: number): string => new Date(START_MS + second * 1000).toISOString()
const record = (seq: number, second: number, fields: Partial<LogEntry> = {}): StoredEntry =>
  storedEntry(seq, { timestamp: iso(second), ...fields })
const open = (maxEntries = 1000) => {
  const { store } = openStore(undefined, { maxEntries })
  const reader = new StoreReader(store)
  return { store, reader, add: (...records: StoredEntry[]) => store.append('entry', records, 100 * records.length) }
}
const seqs = ({ items }: { readonly items: readonly { readonly seq: number }[] }): number[] =>
  items.map(({ seq }) => seq)
const seconds = fc.array(fc.integer({ min: -20, max: 20 }), { maxLength: 6 })

it('visits every initial entry once and in order while entries arrive', () => {
  const batches = fc.array(seconds, { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(batches, fc.integer({ min: 1, max: 4 }), fc.boolean(), ([first = [], ...more], limit, isNewer) => {
      const { reader, add } = open()
      let seq = 0
      const toRecords = (at: readonly number[]) => at.map((second) => record(++seq, second))
      const atFirst = toRecords(first)
      if (atFirst.length > 0) add(...atFirst)
      const walked: StoredEntry[] = []
      let cursor = isNewer ? '0-0' : undefined
      for (let pages = 0; pages <= 200; pages++) {
        const page = reader.entries({ limit, ...(cursor !== undefined && { [isNewer ? 'newer' : 'cursor']: cursor }) })
        walked.push(...(isNewer ? page.items.toReversed() : page.items))
        expect(page.last_seq).toBe(seq)
        const arriving = toRecords(more[pages] ?? [])
        if (arriving.length > 0) add(...arriving)
        if (page.next === null) break
        cursor = page.next
      }
      const oldestFirst = isNewer ? walked : walked.toReversed()
      expect(oldestFirst).toEqual(byTime(walked))
      expect(new Set(walked).size).toBe(walked.length)
      // Later arrivals are included only if their page was not read yet.
      expect(walked.filter((one) => atFirst.includes(one)).length).toBe(atFirst.length)
    }),
    { numRuns: 300 },
  )
})

it('a cursor stays valid when its entry is dropped', () => {
  const { reader, add } = open(4)
  add(record(1, 30), record(2, 10), record(3, 40), record(4, 20))
  const page = reader.entries({ limit: 2 })
  expect(seqs(page)).toEqual([3, 1])
  add(record(5, 35))
  expect(seqs(reader.entries({ cursor: page.next ?? '' }))).toEqual([4, 2])
  expect(seqs(reader.entries({ newer: page.next ?? '' }))).toEqual([3, 5])
})

it('pages are within the time bounds, in both directions', () => {
  const { reader, add } = open()
  add(...Array.from({ length: 50 }, (_, n) => record(n + 1, (n * 7) % 50)))
  const bounds = { since: iso(10), until: iso(40) }
  const older = reader.entries({ ...bounds, limit: 100 })
  expect(older.items.map(({ entry }) => entry.timestamp)).toEqual(Array.from({ length: 30 }, (_, n) => iso(39 - n)))
  expect(older.next).toBeNull()
  expect(reader.entries({ ...bounds, limit: 100, newer: '0-0' }).items).toEqual(older.items)
  expect(reader.entries({ ...bounds, newer: `${Date.parse(iso(39))}-9999` }).items).toEqual([])
  expect(reader.entries({ ...bounds, cursor: `${Date.parse(iso(45))}-0`, limit: 1 }).items).toEqual([older.items[0]])
})

describe('the context of an entry', () => {
  it('has all entries around it by time, with cursors that continue', () => {
    const continued = { newer: 0, older: 0 }
    fc.assert(
      fc.property(seconds, seconds, fc.integer({ min: 1, max: 9 }), (some, others, limit) => {
        const { reader, add } = open()
        const records = [0, ...some, ...others].map((second, n) => record(n + 1, second, { level: 'debug' }))
        add(...records)
        const all = byTime(records).toReversed()
        const at = all.findIndex(({ seq }) => seq === 1)
        const found = reader.context('ent_run_1', { limit })
        const [from, to] = [Math.max(0, at - Math.floor((limit - 1) / 2)), at + Math.floor(limit / 2) + 1]
        expect(seqs(found ?? { items: [] })).toEqual(seqs({ items: all.slice(from, to) }))
        const newer = found?.newer ?? null
        const older = found?.older ?? null
        expect([newer === null, older === null]).toEqual([from === 0, to >= all.length])
        if (newer !== null) continued.newer++
        if (older !== null) continued.older++
        if (newer !== null)
          expect(seqs(reader.entries({ newer, limit: 100 }))).toEqual(seqs({ items: all.slice(0, from) }))
        if (older !== null)
          expect(seqs(reader.entries({ cursor: older, limit: 100 }))).toEqual(seqs({ items: all.slice(to) }))
      }),
      { numRuns: 200 },
    )
    expect(Math.min(continued.newer, continued.older)).toBeGreaterThan(20)
  })

  it('is undefined for an unknown entry, and has the requested columns', () => {
    const { reader, add } = open()
    add(record(1, 0, { metadata: { order: { id: 7 } } }), record(2, 1))
    expect(reader.context('ent_run_3', {})).toBeUndefined()
    const columns = reader
      .context('ent_run_1', { columns: ['metadata.order.id', 'service'] })
      ?.items.map((one) => one.columns)
    expect(columns).toEqual([{}, { 'metadata.order.id': '7' }])
  })
})

it('lists request logs by time, each once over pages, or the slowest', () => {
  const log = fc.record({ second: fc.integer({ min: 0, max: 9 }), duration: fc.constantFrom(0, 0.1, 3, 3.5, 1e21, -2) })
  fc.assert(
    fc.property(fc.array(log, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), (logs, limit) => {
      const { store, reader } = open()
      const records = logs.map(({ second, duration }, n) => ({
        id: `req_${n}`,
        seq: n + 1,
        received_at: iso(0),
        request: { ...requestLog, timestamp: iso(second), duration_ms: duration },
      }))
      if (records.length > 0) store.append('request', records, 100)
      const sorts = {
        timestamp: records.toSorted(
          (a, b) => Date.parse(b.request.timestamp) - Date.parse(a.request.timestamp) || b.seq - a.seq,
        ),
        duration: records.toSorted((a, b) => b.request.duration_ms - a.request.duration_ms || b.seq - a.seq),
      }
      const walked = []
      let next: string | null = null
      do {
        const page = reader.requestLogs({ limit, ...(next !== null && { cursor: next }) })
        walked.push(...page.items)
        next = page.next
      } while (next !== null)
      expect(walked).toEqual(sorts.timestamp)
      expect(reader.requestLogs({ sort: 'duration', limit })).toEqual({ items: sorts.duration.slice(0, limit), next })
    }),
    { numRuns: 150 },
  )
  expect(() => open().reader.requestLogs({ sort: 'duration', cursor: '1-1' })).toThrow(
    expect.objectContaining({ code: 'QUERY' }),
  )
  expect(() => open().reader.requestLogs({ sort: 'size' as never })).toThrow(expect.objectContaining({ code: 'QUERY' }))
})
