/** The store, in memory and with a journal: order, limits, deletion. */
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { StoreReader } from '../../../src/service/store-reader.js'
import { RECORD_KINDS } from '../../../src/service/store/stored-record.js'
import type { Store } from '../../../src/service/store/store.js'
import { modelRuns } from '../../model-runs.js'
import { requestLog } from '../support.js'
import { freshFile, openStore, START_MS, storedEntry } from './open-store.js'

const iso = (second: number): string => new Date(START_MS + second * 1000).toISOString()
const heartbeat = (seq: number) => ({ id: 'h', seq, received_at: iso(0), monitor: 'm', name: null })
const seqs = (store: Store): number[] => store.oldestFirst('entry').map(({ seq }) => seq)
const seqsByTime = (store: Store): number[] =>
  store
    .byTime('entry')
    .filter(() => true)
    .map(({ seq }) => seq)
/** Messages contain the seq: `message 7`. */
const seqsOnDisk = (file: string): number[] =>
  [...new Set([...readFileSync(file, 'latin1').matchAll(/message (\d+)/g)].map(([, seq]) => Number(seq)))].toSorted(
    (a, b) => a - b,
  )

describe.each([
  ['in memory', () => undefined],
  ['with a journal', freshFile],
])('%s', (_, createFile) => {
  it('returns the records unchanged', () => {
    const metadata = { ['__proto__']: { a: 1 }, 'ünï "q"\n': [1e21, -0.5, null, '\u2028💥'] }
    const odd = storedEntry(1, { metadata, notify: false, tags: [] })
    const { store } = openStore(createFile())
    store.append('entry', [odd], 100)
    const entry = new StoreReader(store).entry(odd.id)
    expect(entry).toEqual({ ...odd, feedback: [] })
    expect(Object.keys(entry?.entry.metadata ?? {})).toEqual(['__proto__', 'ünï "q"\n'])
  })

  it('drops the oldest entries beyond the count and the bytes', () => {
    const few = openStore(createFile(), { maxEntries: 3 }).store
    for (let seq = 1; seq <= 5000; seq += 2) few.append('entry', [storedEntry(seq), storedEntry(seq + 1)], 400)
    expect(seqs(few)).toEqual([4998, 4999, 5000])
    const small = openStore(createFile(), { maxBytes: 10_000 }).store
    for (let seq = 1; seq <= 100; seq++) {
      const big = storedEntry(seq, { message: 'x'.repeat(1000) })
      small.append('entry', [big], JSON.stringify(big).length)
    }
    // JSON and search text have about 1,200 and 1,000 bytes.
    expect(seqs(small)).toEqual([97, 98, 99, 100])
  })

  it('has separate limits for other kinds, and the greatest seq of all kinds', () => {
    const { store } = openStore(createFile())
    store.append('entry', [storedEntry(1)], 100)
    for (let seq = 2; seq <= 10_102; seq++) store.append('heartbeat', [heartbeat(seq)], 100)
    expect(store.recordCounts()).toMatchObject({ entry: 1, heartbeat: 10_000 })
    store.clear()
    expect([store.recordCounts().entry, store.recordCounts().heartbeat, store.lastSeq]).toEqual([0, 0, 10_102])
  })

  it('keeps the orders of arrival and of time, also after a restart', () => {
    const record = fc.record({ second: fc.integer({ min: -50, max: 50 }), received: fc.nat(100), bytes: fc.nat(400) })
    const kind = fc.constantFrom('entry' as const, 'request' as const)
    const append = fc.record({ kind, batch: fc.array(record, { minLength: 1, maxLength: 8 }) })
    const step = fc.oneof(
      { weight: 8, arbitrary: append },
      { weight: 2, arbitrary: fc.record({ deleteBefore: fc.nat(100) }) },
      { weight: 1, arbitrary: fc.constantFrom('clear' as const, 'restart' as const) },
    )
    const hasFile = createFile() !== undefined
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const file = createFile()
        const open = (): Store => openStore(file, { maxEntries: 20, maxBytes: 6000 }).store
        let store = open()
        let seq = 0
        for (const one of steps) {
          const revision = store.revision
          if (one === 'clear') store.clear()
          else if (one === 'restart') {
            if (!hasFile) continue
            const before = seqsByTime(store)
            store.close()
            store = open()
            // The file can have records that memory has dropped, so they may be back.
            expect(seqsByTime(store)).toEqual(expect.arrayContaining(before))
          } else if ('deleteBefore' in one) store.deleteOlder(START_MS + one.deleteBefore * 1000)
          else {
            for (const { second, received, bytes } of one.batch) {
              const fields = { timestamp: iso(second), message: 'x'.repeat(bytes) }
              const { entry, ...stored } = storedEntry(++seq, fields, received)
              if (one.kind === 'entry') store.append('entry', [{ ...stored, entry }], bytes)
              else store.append('request', [{ ...stored, request: { ...requestLog, timestamp: iso(second) } }], bytes)
            }
          }
          if (one !== 'restart') expect(store.revision).toBeGreaterThan(revision)
          for (const timed of ['entry', 'request'] as const) {
            const arrived = store.oldestFirst(timed) as readonly { readonly timeMs: number; readonly seq: number }[]
            expect(store.byTime(timed).filter(() => true)).toEqual(
              arrived.toSorted((a, b) => a.timeMs - b.timeMs || a.seq - b.seq),
            )
            expect(arrived).toEqual(arrived.toSorted((a, b) => a.seq - b.seq))
          }
        }
        store.close()
      }),
      { numRuns: modelRuns(hasFile ? 20 : 50, hasFile ? 60 : 500) },
    )
  })
})

it('records of an edited file without a valid time are the oldest', () => {
  const { store } = openStore(freshFile())
  for (const [n, timestamp] of ['2026-01-31T08:00:00Z', 'noon', '2026-01-31T07:00:00Z'].entries())
    store.append('entry', [storedEntry(n + 1, { timestamp })], 100)
  expect(seqsByTime(store)).toEqual([2, 3, 1])
})

it('deletes records of every kind by time of receipt, even if the wall clock was set back', () => {
  const { store } = openStore()
  store.append('entry', [storedEntry(1, {}, 10), storedEntry(2, {}, 0), storedEntry(3, {}, 20)], 300)
  const base = { id: 'x', seq: 4, received_at: iso(5) }
  store.append('request', [{ ...base, request: requestLog }], 100)
  store.append('feedback', [{ ...base, feedback: { event_id: 'e', comments: 'c' } }], 100)
  store.append('release', [{ ...base, release_id: 'r', release: { version: '1' } }], 100)
  store.append('heartbeat', [{ ...base, monitor: 'm', name: null }], 100)
  const refused = { endpoint: 'ingest' as const, batch_id: null, status: 422, entries: 1, accepted: 0, reasons: [] }
  store.append('rejected', [{ ...base, ...refused }], 100)
  const counts = (): number[] => RECORD_KINDS.map((kind) => store.recordCounts()[kind])
  store.deleteOlder(START_MS + 5000)
  expect([seqs(store), counts()]).toEqual([
    [1, 3],
    [2, 1, 1, 1, 1, 1],
  ])
  store.deleteOlder(START_MS + 5001)
  expect(counts()).toEqual([2, 0, 0, 0, 0, 0])
})

it('the file has only the stored records after a deletion, for any order of receipt', () => {
  const record = fc.record({ second: fc.integer({ min: 0, max: 99 }), length: fc.nat(6000) })
  const batch = fc.array(record, { minLength: 1, maxLength: 12 })
  const steps = fc.array(fc.record({ batch, before: fc.nat(99) }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(steps, (all) => {
      const file = freshFile()
      const { store } = openStore(file)
      let seq = 0
      for (const { batch: made, before } of all) {
        for (const { second, length } of made) {
          const message = `message ${++seq} `.repeat(1 + length / 10)
          store.append('entry', [storedEntry(seq, { message }, second)], 100)
        }
        store.deleteOlder(START_MS + before * 1000)
      }
      expect(seqsOnDisk(file)).toEqual(seqs(store))
      store.close()
      expect(seqs(openStore(file).store)).toEqual(seqs(store))
    }),
    { numRuns: 30 },
  )
})
