/** One contract, every store. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { MemoryStore } from '../../../src/service/store/memory-store.js'
import { SqliteStore } from '../../../src/service/store/sqlite.js'
import { hasSqlite, openDatabase } from '../../../src/service/store/sqlite-file.js'
import type { Store, StoredEntry, StoreLimits } from '../../../src/service/store/store.js'
import { entryOf } from '../support.js'

const LIMITS: StoreLimits = { maxEntries: 1000, maxBytes: 1 << 20 }
type Open = (limits?: StoreLimits, file?: string) => Store

const unexpected = (message: string): never => {
  throw new Error(message)
}
const openMemory: Open = (limits = LIMITS, file) =>
  new MemoryStore({ ...limits, ...(file && { file }), onProblem: unexpected })
const openSqlite: Open = (limits = LIMITS, file) => new SqliteStore({ ...limits, ...(file && { file }) })

function record(seq: number, fields: Partial<LogEntry> = {}): StoredEntry {
  return {
    id: `ent_run_${seq.toString(36)}`,
    seq,
    received_at: '2026-01-01T00:00:00.000Z',
    batch_id: 'b',
    entry: entryOf(fields),
  }
}

function freshPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'sub', 'store')
}

function contract(open: Open): void {
  const filled = (...entries: readonly Partial<LogEntry>[]): Store => {
    const store = open()
    onTestFinished(() => store.close())
    store.append(
      'entry',
      entries.map((fields, index) => record(index + 1, fields)),
      1000,
    )
    return store
  }
  const seqs = (store: Store, query: Parameters<Store['entries']>[0]): number[] =>
    store.entries(query).items.map(({ seq }) => seq)

  it('gives back exactly what it was given', () => {
    const odd = {
      metadata: { ['__proto__']: { a: 1 }, 'ünï "q"\n': [1e21, -0.5, null, '\u2028💥'] },
      notify: false,
      tags: [],
    }
    const store = filled(odd)
    expect(store.entry('ent_run_1')).toEqual(record(1, odd))
    expect(Object.keys(store.entry('ent_run_1')?.entry.metadata ?? {})).toEqual(['__proto__', 'ünï "q"\n'])
    expect(store.entry('ent_run_2')).toBeUndefined()
    expect(store.entry('ent_other_1')).toBeUndefined()
  })

  it('pages from the newest to the oldest, and the pages hold still while more arrives', () => {
    const store = filled({}, {}, {}, {}, {})
    const first = store.entries({ limit: 2 })
    store.append('entry', [record(6)], 100)
    const second = store.entries({ limit: 2, cursor: first.next ?? 'none' })
    const third = store.entries({ limit: 2, cursor: second.next ?? 'none' })
    expect([first, second, third].map(({ items }) => items.map(({ seq }) => seq))).toEqual([[5, 4], [3, 2], [1]])
    expect(third.next).toBeNull()
    expect(store.entries({ limit: 6 }).next).toBeNull()
    expect(store.entries({ limit: Infinity }).items).toHaveLength(6)
  })

  it('filters by every field, all filters together', () => {
    const store = filled(
      {
        level: 'error',
        service: 'a',
        environment: 'prod',
        version: '1',
        release_id: 'r',
        request_id: 'q',
        trace: { trace_id: 't' },
        tags: ['x', 'y'],
      },
      { level: 'warn', service: 'b', timestamp: '2026-02-01T00:00:00.000Z' },
    )
    for (const filter of [
      { level: 'error' },
      { level: ['error', 'fatal'] },
      { service: 'a' },
      { environment: 'prod' },
      { version: '1' },
      { release_id: 'r' },
      { request_id: 'q' },
      { trace_id: 't' },
      { tag: 'y' },
      { until: '2026-02-01T00:00:00Z' },
      { service: 'a', tag: 'x', level: 'error' },
    ] as const) {
      expect(seqs(store, filter), JSON.stringify(filter)).toEqual([1])
      expect(store.counts(filter)).toEqual({ debug: 0, info: 0, warn: 0, error: 1, fatal: 0, total: 1 })
    }
    expect(seqs(store, { since: '2026-02-01T00:00:00Z' })).toEqual([2])
    expect(seqs(store, { service: 'a', level: 'warn' })).toEqual([])
    expect(seqs(store, { service: "a' or '1'='1" })).toEqual([])
    expect(store.counts({})).toMatchObject({ error: 1, warn: 1, total: 2 })
  })

  it('finds text in message, error and metadata, whatever its case', () => {
    const store = filled(
      { message: 'Größe 100% _x' },
      { error: { type: 'TypeError', stack: 'at Foo' } },
      { metadata: { cart: { item: 'Lamp' } } },
      { service: 'billing' },
    )
    expect(seqs(store, { q: 'GRÖSSE' })).toEqual([])
    expect(seqs(store, { q: 'GRÖßE' })).toEqual([1])
    expect(seqs(store, { q: '100%' })).toEqual([1])
    expect(seqs(store, { q: 'typeerror' })).toEqual([2])
    expect(seqs(store, { q: 'FOO' })).toEqual([2])
    expect(seqs(store, { q: 'lamp' })).toEqual([3])
    expect(seqs(store, { q: 'billing' })).toEqual([4])
    expect(seqs(store, { q: '' })).toEqual([4, 3, 2, 1])
  })

  it('refuses a wrong query', () => {
    const store = filled({})
    for (const query of [
      { level: 'loud' as never },
      { since: 'noon' },
      { cursor: 'x' },
      { limit: 0 },
      { limit: 1.5 },
    ]) {
      expect(() => store.entries(query), JSON.stringify(query)).toThrow(expect.objectContaining({ code: 'QUERY' }))
    }
  })

  it('finds the newest entry of an event', () => {
    const store = filled({ metadata: { event_id: 'e' } }, { metadata: { event_id: 'e' } }, {})
    expect(store.entryOfEvent('e')?.seq).toBe(2)
    expect(store.entryOfEvent('ent_run_3')?.seq).toBe(3)
    expect(store.entryOfEvent('none')).toBeUndefined()
  })

  it('keeps at most so many entries, and so many bytes; the oldest go first', () => {
    const few = open({ maxEntries: 3, maxBytes: 1 << 20 })
    onTestFinished(() => few.close())
    for (let seq = 1; seq <= 5000; seq += 2) few.append('entry', [record(seq), record(seq + 1)], 400)
    expect(few.entries({}).items.map(({ seq }) => seq)).toEqual([5000, 4999, 4998])
    expect(few.counts({}).total).toBe(3)
    expect(few.entry('ent_run_1')).toBeUndefined()
    expect(few.entry(record(4999).id)?.seq).toBe(4999)

    const small = open({ maxEntries: 1000, maxBytes: 10_000 })
    onTestFinished(() => small.close())
    for (let seq = 1; seq <= 100; seq++) {
      const big = record(seq, { message: 'x'.repeat(1000) })
      small.append('entry', [big], JSON.stringify(big).length)
    }
    // Each is kept as JSON and as text for searching.
    expect(small.counts({}).total).toBeGreaterThan(3)
    expect(small.counts({}).total).toBeLessThan(6)
    expect(small.entries({ limit: 1 }).items[0]?.seq).toBe(100)
  })

  it('counts text for searching by the bytes that it takes', () => {
    const keptOf = (letter: string): number => {
      const store = open({ maxEntries: 1000, maxBytes: 100_000 })
      onTestFinished(() => store.close())
      for (let seq = 1; seq <= 100; seq++) {
        const big = record(seq, { message: letter.repeat(1000) })
        store.append('entry', [big], Buffer.byteLength(JSON.stringify(big)))
      }
      return store.counts({}).total
    }
    // JSON and text for searching: twice 1,000 bytes each, or twice 2,000, and what else an entry has.
    expect(keptOf('x')).toBeGreaterThan(100_000 / 2500)
    expect(keptOf('x')).toBeLessThan(100_000 / 2000)
    expect(keptOf('я')).toBeGreaterThan(100_000 / 4500)
    expect(keptOf('я')).toBeLessThan(100_000 / 4000)
  })

  it('keeps the other kinds beside, and finds a release by its version', () => {
    const store = filled({})
    const base = { id: 'x', received_at: '2026-01-01T00:00:00.000Z' }
    store.append('release', [{ ...base, seq: 2, release_id: 'rel', release: { version: '1' } }], 100)
    store.append('feedback', [{ ...base, seq: 3, feedback: { event_id: 'e', comments: 'c' } }], 100)
    expect(store.releaseOfVersion('1')?.release_id).toBe('rel')
    expect(store.releaseOfVersion('2')).toBeUndefined()
    expect(store.list('feedback', {}).items.map(({ seq }) => seq)).toEqual([3])
    expect(store.list('heartbeat', {})).toEqual({ items: [], next: null })
    expect(store.lastSeq()).toBe(3)
    store.clear()
    expect([store.counts({}).total, store.list('feedback', {}).items.length]).toEqual([0, 0])
  })

  it('has it all again after a restart on the same file', () => {
    const path = freshPath()
    const before = open(LIMITS, path)
    before.append('entry', [record(1, { message: 'ä' }), record(2)], 400)
    before.append('heartbeat', [{ id: 'h', seq: 3, received_at: '2026-01-01T00:00:00.000Z', monitor: 'm' }], 100)
    before.close()
    const after = open(LIMITS, path)
    onTestFinished(() => after.close())
    expect(after.entries({}).items).toEqual([record(2), record(1, { message: 'ä' })])
    expect(after.list('heartbeat', {}).items).toHaveLength(1)
    expect(after.lastSeq()).toBe(3)
  })

  it('keeps the file within bounds too', () => {
    const path = freshPath()
    const store = open({ maxEntries: 10, maxBytes: 1 << 20 }, path)
    const message = 'x'.repeat(10_000)
    for (let seq = 1; seq <= 2000; seq += 10) {
      store.append(
        'entry',
        Array.from({ length: 10 }, (_, i) => record(seq + i, { message })),
        100_000,
      )
    }
    store.close()
    expect(statSync(path).size).toBeLessThan(6_000_000)
  })

  it('refuses a file that is not its own, and leaves it as it is', () => {
    const path = freshPath()
    mkdirSync(join(path, '..'))
    writeFileSync(path, '{"name":"my-app"}\n')
    expect(() => open(LIMITS, path)).toThrow(
      expect.objectContaining({ code: 'STORE', message: expect.stringContaining(path) }),
    )
    expect(readFileSync(path, 'utf8')).toBe('{"name":"my-app"}\n')
  })
}

describe('memory', () => contract(openMemory))
describe('memory with a journal', () => contract((limits, path) => openMemory(limits, path ?? freshPath())))
describe.skipIf(!hasSqlite())(`sqlite${hasSqlite() ? '' : ' (this runtime has no node:sqlite)'}`, () =>
  contract(openSqlite),
)

it.skipIf(hasSqlite())('sqlite says what it needs where the runtime has none', () => {
  expect(() => openSqlite()).toThrow(
    expect.objectContaining({ code: 'STORE', message: expect.stringContaining('22.13') }),
  )
})

it.skipIf(!hasSqlite())('sqlite refuses the database of another program', () => {
  const path = freshPath()
  const foreign = openDatabase(path)
  foreign.exec('pragma application_id = 1')
  foreign.close()
  expect(() => openSqlite(LIMITS, path)).toThrow(expect.objectContaining({ code: 'STORE' }))
})

describe.skipIf(!hasSqlite())('a file of sqlite from the layout before', () => {
  const LAYOUT_1 = `
    create table record (seq integer primary key, kind text not null, bytes integer not null, json text not null);
    create index record_kind on record (kind, seq);
    create table entry (
      seq integer primary key, id text not null, level text not null, time_ms integer not null, event_id text,
      service text, environment text, version text, release_id text, trace_id text, request_id text, search text not null
    );
    create index entry_event on entry (event_id);
    create index entry_id on entry (id);
    pragma application_id = ${0x70696e67};
    pragma user_version = 1;
  `
  const old = (jsons: readonly [number, string, string][], path = freshPath()): string => {
    const empty = openDatabase(path)
    empty.exec('drop table record; drop table entry; drop table search; drop table request; drop table state')
    empty.exec(LAYOUT_1)
    const insert = empty.prepare('insert into record (seq, kind, bytes, json) values (?, ?, ?, ?)')
    for (const [seq, kind, json] of jsons) insert.run(seq, kind, json.length, json)
    empty.close()
    return path
  }
  const many = Array.from({ length: 1200 }, (_, n) =>
    record(n + 1, { message: `Message ${n}`, level: n % 2 === 0 ? 'error' : 'info', tags: ['x'] }),
  )
  const feedback = {
    id: 'f',
    seq: 1201,
    received_at: '2026-01-01T00:00:00.000Z',
    feedback: { event_id: 'e', comments: 'c' },
  }

  it('is brought over with all that it has, once', () => {
    const path = old([
      ...many.map((one): [number, string, string] => [one.seq, 'entry', JSON.stringify(one)]),
      [1201, 'feedback', JSON.stringify(feedback)],
    ])
    for (const _ of ['brought over', 'opened again']) {
      const store = openSqlite({ maxEntries: 5000, maxBytes: 1 << 24 }, path)
      expect(store.entries({ limit: Infinity }).items).toEqual(many.toReversed())
      expect(store.counts({ q: 'message 7', tag: 'x', level: 'error' }).total).toBe(
        many.filter(({ entry }) => entry.level === 'error' && entry.message.startsWith('Message 7')).length,
      )
      expect(store.list('feedback', {}).items).toEqual([feedback])
      expect([store.recordCounts().entry, store.lastSeq()]).toEqual([1200, 1201])
      store.close()
    }
  })

  it('stays as it was where a record of it cannot be read', () => {
    const path = old([
      [1, 'entry', JSON.stringify(many[0])],
      [2, 'entry', '{"id":'],
    ])
    expect(() => openSqlite(LIMITS, path)).toThrow(
      expect.objectContaining({ code: 'STORE', message: expect.stringContaining(path) }),
    )
    // A second attempt meets the same record, not half of what was brought over.
    expect(() => openSqlite(LIMITS, path)).toThrow(
      expect.objectContaining({ code: 'STORE', message: expect.stringContaining('JSON') }),
    )
  })

  it('is refused where it is from a later one', () => {
    const path = freshPath()
    const later = openDatabase(path)
    later.exec('pragma user_version = 3')
    later.close()
    expect(() => openSqlite(LIMITS, path)).toThrow(
      expect.objectContaining({ code: 'STORE', message: expect.stringContaining('version 3') }),
    )
  })
})

it.skipIf(!hasSqlite())('sqlite keeps its accounts where an append fails', () => {
  const store = openSqlite()
  onTestFinished(() => store.close())
  store.append('entry', [record(1)], 100)
  expect(() => store.append('entry', [record(2), record(1)], 200)).toThrow(/UNIQUE/)
  expect([store.recordCounts().entry, store.entries({}).items.length]).toEqual([1, 1])
  store.append('entry', [record(2)], 100)
  expect(store.recordCounts().entry).toBe(2)
})
