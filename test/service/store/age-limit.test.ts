/** Forgetting by age, and what it leaves: every store, on a file and without one. */
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MemoryStore } from '../../../src/service/store/memory-store.js'
import { Ring } from '../../../src/service/store/ring.js'
import { hasSqlite, openDatabase } from '../../../src/service/store/sqlite-file.js'
import { SqliteStore } from '../../../src/service/store/sqlite.js'
import type { Store, StoredEntry, StoredRequestLog } from '../../../src/service/store/store.js'
import { entryOf, requestLog } from '../support.js'

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
  id: `ent_run_${seq.toString(36)}`,
  seq,
  received_at: received(minute),
  batch_id: null,
  entry: entryOf({ level: 'error', message: `message ${seq}`, tags: ['t'], metadata: { event_id: `e${seq}` } }),
})
const requestAt = (seq: number, minute: number): StoredRequestLog => ({
  id: `req_run_${seq}`,
  seq,
  received_at: received(minute),
  request: requestLog,
})

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
    store.append(
      'feedback',
      [{ id: 'f', seq: 6, received_at: received(5), feedback: { event_id: 'e1', comments: 'c' } }],
      100,
    )
    store.append('heartbeat', [{ id: 'h', seq: 7, received_at: received(15), monitor: 'm' }], 100)
    store.append(
      'release',
      [{ id: 'r', seq: 8, received_at: received(1), release_id: 'rel', release: { version: '1' } }],
      100,
    )
    for (const beforeMs of [-Number.MAX_SAFE_INTEGER, 0, START_MS]) store.deleteOlder(beforeMs)
    expect(store.recordCounts().entry).toBe(3)
    store.deleteOlder(START_MS + 10 * 60_000)
    expect(seqs(store)).toEqual([3, 2])
    expect(store.recordCounts()).toEqual({ entry: 2, request: 1, feedback: 0, heartbeat: 1, release: 0, rejected: 0 })
    expect([store.counts({}).total, store.counts({ q: 'message' }).total, store.groupSummaries({})[0]?.count]).toEqual([
      2, 2, 2,
    ])
    expect(store.routes({}, 10).map(({ count }) => count)).toEqual([1])
    expect([store.entry('ent_run_1'), store.entryOfEvent('e1'), store.releaseOfVersion('1')]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(store.entry('ent_run_2')?.seq).toBe(2)
  })

  it('forgets all, goes on, and never gives a seq twice', () => {
    const file = freshFile()
    const before = open(file)
    before.append('entry', [entryAt(1, 0), entryAt(2, 0)], 200)
    before.deleteOlder(START_MS + 60_000)
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
    store.deleteOlder(START_MS + 60_000)
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
      {
        weight: 3,
        arbitrary: fc.record({
          kind: fc.constant('came' as const),
          minutes: fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 5 }),
        }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ kind: fc.constant('forget' as const), minute: fc.integer({ min: 0, max: 30 }) }),
      },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
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
              store.deleteOlder(START_MS + one.minute * 60_000)
              model = model.filter(({ received_at }) => received_at >= received(one.minute))
            }
            expect(store.entries({ limit: 1000 }).items).toEqual(model.toReversed())
            expect([store.recordCounts().entry, store.lastSeq()]).toEqual([model.length, seq])
            for (const record of model) expect(store.entry(record.id)?.seq).toBe(record.seq)
          }
        } finally {
          store.close()
        }
      }),
      { numRuns: 60 },
    )
  })

  it('still keeps within its bounds afterwards', () => {
    const store = opened()
    store.append(
      'entry',
      Array.from({ length: 900 }, (_, n) => entryAt(n + 1, n < 800 ? 0 : 10)),
      90_000,
    )
    store.deleteOlder(START_MS + 60_000)
    for (let seq = 901; seq <= 3000; seq++) store.append('entry', [entryAt(seq, 20)], 100)
    expect(store.recordCounts().entry).toBe(1000)
    expect(seqs(store)[0]).toBe(3000)
    expect(seqs(store).at(-1)).toBe(2001)
  })
}

describe('memory', () => contract(openMemory))
describe('memory with a journal', () => contract((path) => openMemory(path ?? freshFile())))
describe.skipIf(!hasSqlite())(`sqlite${hasSqlite() ? '' : ' (this runtime has no node:sqlite)'}`, () =>
  contract(openSqlite),
)

/** All that a store has on disk. */
const onDisk = (file: string): string =>
  [file, `${file}-wal`]
    .filter((name) => existsSync(name))
    .map((name) => readFileSync(name, 'latin1'))
    .join('')
const onDiskSeqs = (file: string): number[] =>
  [...new Set([...onDisk(file).matchAll(/message (\d+)/g)].map(([, seq]) => Number(seq)))].toSorted((a, b) => a - b)
const minuteMs = (minute: number): number => START_MS + minute * 60_000

function erasure(open: Open): void {
  const opened = (): { file: string; store: Store } => {
    const file = freshFile()
    const store = open(file)
    onTestFinished(() => store.close())
    return { file, store }
  }

  it('takes what is too old from the file, at most once a minute', () => {
    const { file, store } = opened()
    store.append('entry', [entryAt(1, 0), entryAt(2, 10), entryAt(3, 10.5), entryAt(4, 12), entryAt(5, 30)], 500)
    expect(onDiskSeqs(file)).toEqual([1, 2, 3, 4, 5])
    store.deleteOlder(minuteMs(5))
    expect(onDiskSeqs(file)).toEqual([2, 3, 4, 5])
    store.deleteOlder(minuteMs(5.5))
    store.deleteOlder(minuteMs(10.2))
    expect(onDiskSeqs(file)).toEqual([3, 4, 5])
    store.deleteOlder(minuteMs(10.9))
    expect([seqs(store), onDiskSeqs(file)]).toEqual([
      [5, 4],
      [3, 4, 5],
    ])
    // Nothing more to forget, but what waited is due.
    store.deleteOlder(minuteMs(11.5))
    expect(onDiskSeqs(file)).toEqual([4, 5])
    // The wall clock was set back, by which nothing is put off.
    store.append('entry', [entryAt(6, -30)], 100)
    store.deleteOlder(minuteMs(-20))
    expect(onDiskSeqs(file)).toEqual([4, 5])
  })

  it('takes it from the file when it is closed, and a start without a bound by age brings nothing back', () => {
    const file = freshFile()
    const store = open(file)
    store.append('entry', [entryAt(1, 0), entryAt(2, 0.2), entryAt(3, 10)], 300)
    store.deleteOlder(minuteMs(0.1))
    store.deleteOlder(minuteMs(0.5))
    store.close()
    expect(onDiskSeqs(file)).toEqual([3])
    const again = open(file)
    onTestFinished(() => again.close())
    expect(seqs(again)).toEqual([3])
  })

  it('has nothing on disk of what was cleared, and gives the room back', () => {
    const { file, store } = opened()
    for (let seq = 1; seq <= 500; seq++) store.append('entry', [entryAt(seq, 0)], 100)
    store.clear()
    expect(onDiskSeqs(file)).toEqual([])
    expect(onDisk(file).length).toBeLessThan(100_000)
    store.append('entry', [entryAt(501, 1)], 100)
    expect([onDiskSeqs(file), store.counts({ q: 'message' }).total]).toEqual([[501], 1])
  })

  it('has nothing on disk of any age but what is kept, whatever was forgotten when', () => {
    const batch = fc.array(fc.record({ minute: fc.integer({ min: 0, max: 99 }), length: fc.nat(6000) }), {
      minLength: 1,
      maxLength: 12,
    })
    fc.assert(
      fc.property(
        fc.array(fc.record({ batch, before: fc.integer({ min: 0, max: 99 }) }), { minLength: 1, maxLength: 8 }),
        (steps) => {
          const file = freshFile()
          const store = open(file)
          try {
            let seq = 0
            for (const { batch: made, before } of steps) {
              for (const { minute, length } of made) {
                const record = entryAt(++seq, minute)
                const marked = `message ${seq} `.repeat(1 + length / 10)
                store.append('entry', [{ ...record, entry: { ...record.entry, message: marked } }], 100)
              }
              store.deleteOlder(minuteMs(before))
            }
            store.close()
            const reopened = open(file)
            const kept = seqs(reopened).toReversed()
            reopened.close()
            expect(onDiskSeqs(file)).toEqual(kept)
          } finally {
            rmSync(file)
          }
        },
      ),
      { numRuns: 30 },
    )
  })
}

describe('on disk, a journal', () => {
  erasure(openMemory)

  it('loses what made room before it was too old', () => {
    const file = freshFile()
    const store = new MemoryStore({ maxEntries: 2, maxBytes: 1 << 20, file, onProblem: unexpected })
    onTestFinished(() => store.close())
    store.append('entry', [entryAt(1, 0), entryAt(2, 10), entryAt(3, 10)], 300)
    expect([seqs(store), onDiskSeqs(file)]).toEqual([
      [3, 2],
      [1, 2, 3],
    ])
    store.deleteOlder(minuteMs(5))
    expect(onDiskSeqs(file)).toEqual([2, 3])
  })
})

describe.skipIf(!hasSqlite())('on disk, sqlite', () => {
  erasure(openSqlite)

  const many = (from: number, count: number, minute: number): StoredEntry[] =>
    Array.from({ length: count }, (_, n) => ({
      ...entryAt(from + n, minute),
      entry: entryOf({ message: `message ${from + n} ${'x'.repeat(20_000)}` }),
    }))
  const big: Open = (file) => new SqliteStore({ maxEntries: 100_000, maxBytes: 1 << 28, ...(file && { file }) })

  it('gives free pages back, some each time', () => {
    const file = freshFile()
    const store = big(file)
    onTestFinished(() => store.close())
    for (let seq = 1; seq <= 1000; seq += 10) store.append('entry', many(seq, 10, seq <= 980 ? 0 : 60), 1)
    store.deleteOlder(minuteMs(-1))
    const full = statSync(file).size
    const sizes = [2, 4, 6, 8, 10].map((minute) => {
      store.deleteOlder(minuteMs(minute))
      return statSync(file).size
    })
    const stepBytes = 2560 * 4096
    expect(full).toBeGreaterThan(3 * stepBytes)
    // Pages that tell whose the others are go with them.
    expect(sizes[0]).toBeGreaterThan(full - 1.01 * stepBytes)
    expect(sizes.at(-1)).toBeLessThan(full / 10)
    expect(store.entries({ q: 'MESSAGE', limit: Infinity }).items).toHaveLength(20)
  })

  it('takes on the giving back in a file that had it not, once it is cleared', () => {
    const file = freshFile()
    const before = openDatabase(file)
    before.exec('pragma auto_vacuum = none; vacuum')
    expect(before.prepare('pragma auto_vacuum').get()).toEqual({ auto_vacuum: 0 })
    before.close()
    const store = big(file)
    store.append('entry', many(1, 100, 0), 1)
    store.clear()
    store.close()
    const after = openDatabase(file)
    onTestFinished(() => after.close())
    expect(after.prepare('pragma auto_vacuum').get()).toEqual({ auto_vacuum: 2 })
  })

  it('goes on while another process reads the file, and makes up for it', () => {
    const file = freshFile()
    const store = big(file)
    onTestFinished(() => store.close())
    store.append('entry', many(1, 3, 0), 1)
    const reader = openDatabase(file)
    reader.exec('begin')
    expect(reader.prepare('select count(*) as n from record').get()).toEqual({ n: 3 })
    store.clear()
    expect(seqs(store)).toEqual([])
    reader.exec('commit')
    reader.close()
    store.deleteOlder(minuteMs(1))
    expect(onDiskSeqs(file)).toEqual([])
  })
})

it('a ring knows from when its earliest is, whatever came and went', () => {
  const minute = fc.integer({ min: 0, max: 50 })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), minute), { maxLength: 60 }), (steps) => {
      const ring = new Ring<{ seq: number; record: StoredEntry }>(20, Infinity)
      let model: StoredEntry[] = []
      for (const [n, [isForgetting, at]] of steps.entries()) {
        if (isForgetting) {
          ring.forget(minuteMs(at))
          model = model.filter(({ received_at }) => Date.parse(received_at) >= minuteMs(at))
        } else {
          ring.push({ seq: n, record: entryAt(n, at) }, 1)
          model = [...model, entryAt(n, at)].slice(-20)
        }
        expect([ring.oldestFirst().map(({ seq }) => seq), ring.bytes]).toEqual([
          model.map(({ seq }) => seq),
          model.length,
        ])
        const earliest = Math.min(...model.map(({ received_at }) => Date.parse(received_at)))
        // After forgetting, never before what was forgotten; else a bound from below, which may be of what made room.
        if (isForgetting) expect(ring.earliestMs).toBeGreaterThanOrEqual(minuteMs(at))
        expect(ring.earliestMs).toBeLessThanOrEqual(earliest)
      }
    }),
  )
})

it('a ring looks through all only where something out of order is too old', () => {
  const ring = new Ring<{ seq: number; record: StoredEntry }>(300_000, Infinity)
  const record = entryAt(0, 0)
  for (let seq = 0; seq < 200_000; seq++)
    ring.push({ seq, record: { ...record, received_at: received(seq < 10 ? 60 : 30 + seq / 10_000) } }, 1)
  const from = process.cpuUsage()
  for (let look = 0; look < 1000; look++) ring.forget(minuteMs(look / 100))
  // A look at each of 200,000, a thousand times, takes seconds.
  expect(process.cpuUsage(from).user).toBeLessThan(100_000)
  expect(ring.count).toBe(200_000)
})
