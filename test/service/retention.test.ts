/** Forgetting by age, and what it leaves: every store, on a file and without one. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MemoryStore } from '../../src/service/store/memory.js'
import { hasSqlite } from '../../src/service/store/sqlite-file.js'
import { SqliteStore } from '../../src/service/store/sqlite.js'
import type { Store, StoredEntry, StoredRequestLog } from '../../src/service/store/store.js'
import { entryOf, requestLog } from './support.js'

const LIMITS = { maxEntries: 1000, maxBytes: 1 << 20 }
const START_MS = Date.parse('2026-01-31T08:00:00.000Z')
type Open = (file?: string) => Store

const unexpected = (message: string): never => {
  throw new Error(message)
}
const openMemory: Open = (file) => new MemoryStore({ ...LIMITS, ...(file && { file }), onProblem: unexpected })
const openSqlite: Open = (file) => new SqliteStore({ ...LIMITS, ...(file && { file }) })

const received = (minute: number): string => new Date(START_MS + minute * 60_000).toISOString()
const entryAt = (seq: number, minute: number): StoredEntry => ({
  id: `ent_run_${seq.toString(36)}`, seq, received_at: received(minute), batch_id: null, entry: entryOf({ level: 'error', message: `message ${seq}`, tags: ['t'], metadata: { event_id: `e${seq}` } }),
})
const requestAt = (seq: number, minute: number): StoredRequestLog => ({ id: `req_run_${seq}`, seq, received_at: received(minute), request: requestLog })

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-retention-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'store')
}

const seqs = (store: Store): number[] => store.entries({ limit: Infinity }).items.map(({ seq }) => seq)

function contract(open: Open): void {
  const opened = (file?: string): Store => {
    const store = open(file)
    onTestFinished(() => store.close())
    return store
  }

  it('forgets records of every kind that were received before, and nothing else', () => {
    const store = opened()
    store.append('entry', [entryAt(1, 0), entryAt(2, 10), entryAt(3, 20)], 300)
    store.append('request', [requestAt(4, 0), requestAt(5, 20)], 300)
    store.append('feedback', [{ id: 'f', seq: 6, received_at: received(5), feedback: { event_id: 'e1', comments: 'c' } }], 100)
    store.append('heartbeat', [{ id: 'h', seq: 7, received_at: received(15), monitor: 'm' }], 100)
    store.append('release', [{ id: 'r', seq: 8, received_at: received(1), release_id: 'rel', release: { version: '1' } }], 100)
    for (const beforeMs of [-Number.MAX_SAFE_INTEGER, 0, START_MS]) store.forget(beforeMs)
    expect(store.kept().entry).toBe(3)
    store.forget(START_MS + 10 * 60_000)
    expect(seqs(store)).toEqual([3, 2])
    expect(store.kept()).toEqual({ entry: 2, request: 1, feedback: 0, heartbeat: 1, release: 0, rejected: 0 })
    expect([store.counts({}).total, store.counts({ q: 'message' }).total, store.groupHeads({})[0]?.count]).toEqual([2, 2, 2])
    expect(store.routes({}, 10).map(({ count }) => count)).toEqual([1])
    expect([store.entry('ent_run_1'), store.entryOfEvent('e1'), store.releaseOfVersion('1')]).toEqual([undefined, undefined, undefined])
    expect(store.entry('ent_run_2')?.seq).toBe(2)
  })

  it('forgets all, goes on, and never gives a seq twice', () => {
    const file = freshFile()
    const before = open(file)
    before.append('entry', [entryAt(1, 0), entryAt(2, 0)], 200)
    before.forget(START_MS + 60_000)
    expect([seqs(before), before.timeRange({}), before.lastSeq()]).toEqual([[], undefined, 2])
    before.append('entry', [entryAt(3, 5)], 100)
    before.clear()
    expect(before.lastSeq()).toBe(3)
    before.close()
    const after = open(file)
    expect([seqs(after), after.lastSeq()]).toEqual([[], 3])
    after.append('entry', [entryAt(4, 6)], 100)
    after.close()
    expect(seqs(opened(file))).toEqual([4])
  })

  it('finds text again after it forgot some of it', () => {
    const store = opened()
    store.append('entry', [entryAt(1, 0), entryAt(2, 10)], 200)
    expect(store.counts({ q: 'message' }).total).toBe(2)
    store.forget(START_MS + 60_000)
    expect(store.counts({ q: 'message' }).total).toBe(1)
    store.append('entry', [entryAt(3, 20)], 100)
    expect(store.counts({ q: 'message' }).total).toBe(2)
    store.clear()
    expect(store.counts({ q: 'message' }).total).toBe(0)
    store.append('entry', [entryAt(1, 30)], 100)
    expect(store.entries({ q: 'message' }).items.map(({ seq }) => seq)).toEqual([1])
  })

  it('keeps exactly what is not too old, in whichever order it came, however often it forgets', () => {
    const step = fc.oneof(
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('came' as const), minutes: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 5 }) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('forget' as const), minute: fc.integer({ min: 0, max: 30 }) }) },
    )
    fc.assert(fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const store = open()
      try {
        let model: StoredEntry[] = []
        let seq = 0
        for (const one of steps) {
          if (one.kind === 'came') {
            const records = one.minutes.map((minute) => entryAt(++seq, minute))
            store.append('entry', records, 100)
            model = [...model, ...records]
          } else {
            store.forget(START_MS + one.minute * 60_000)
            model = model.filter(({ received_at }) => received_at >= received(one.minute))
          }
          expect(store.entries({ limit: 1000 }).items).toEqual(model.toReversed())
          expect([store.kept().entry, store.lastSeq()]).toEqual([model.length, seq])
          for (const record of model) expect(store.entry(record.id)?.seq).toBe(record.seq)
        }
      } finally {
        store.close()
      }
    }), { numRuns: 60 })
  })

  it('still keeps within its bounds afterwards', () => {
    const store = opened()
    store.append('entry', Array.from({ length: 900 }, (_, n) => entryAt(n + 1, n < 800 ? 0 : 10)), 90_000)
    store.forget(START_MS + 60_000)
    for (let seq = 901; seq <= 3000; seq++) store.append('entry', [entryAt(seq, 20)], 100)
    expect(store.kept().entry).toBe(1000)
    expect(seqs(store)[0]).toBe(3000)
    expect(seqs(store).at(-1)).toBe(2001)
  })
}

describe('memory', () => contract(openMemory))
describe('memory with a journal', () => contract((path) => openMemory(path ?? freshFile())))
describe.skipIf(!hasSqlite())(`sqlite${hasSqlite() ? '' : ' (this runtime has no node:sqlite)'}`, () => contract(openSqlite))

it('a journal that has outgrown what is kept loses what was forgotten', () => {
  const file = freshFile()
  const store = new MemoryStore({ ...LIMITS, file, compactSlackBytes: 0, onProblem: unexpected })
  onTestFinished(() => store.close())
  store.append('entry', [entryAt(1, 0), entryAt(2, 0), entryAt(3, 0), entryAt(4, 10)], 400)
  store.forget(START_MS + 60_000)
  expect(readFileSync(file, 'utf8')).not.toContain('message 1')
  expect(readFileSync(file, 'utf8')).toContain('message 4')
})
