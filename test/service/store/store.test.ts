/** The store, in memory and with a journal. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import { StoreReader } from '../../../src/service/store-reader.js'
import { resolveStoreFile } from '../../../src/service/store/store-file.js'
import type { StoreFile } from '../../../src/service/store/store-file.js'
import { Store } from '../../../src/service/store/store.js'
import type { StoreOptions } from '../../../src/service/store/store.js'
import type { StoredEntry } from '../../../src/service/store/stored-record.js'
import { entryOf } from '../support.js'

const LIMITS = { maxEntries: 1000, maxBytes: 1 << 24 }

function record(seq: number, fields: Partial<LogEntry> = {}): StoredEntry {
  return {
    id: `ent_run_${seq.toString(36)}`,
    seq,
    received_at: '2026-01-01T00:00:00.000Z',
    batch_id: 'b',
    entry: entryOf(fields),
  }
}

function freshFile(): StoreFile {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return resolveStoreFile(join(folder, 'sub', 'store'))
}

function open(options: Partial<StoreOptions>): { store: Store; reader: StoreReader } {
  const store = new Store({ ...LIMITS, onProblem: (message) => expect.unreachable(message), ...options })
  onTestFinished(() => store.close())
  return { store, reader: new StoreReader(store, () => 0) }
}

const seqs = (reader: StoreReader): number[] => reader.entries({ limit: Infinity }).items.map(({ seq }) => seq)

describe.each([
  ['in memory', () => undefined],
  ['with a journal', freshFile],
])('%s', (_, createFile) => {
  it('returns the records unchanged', () => {
    const odd = {
      metadata: { ['__proto__']: { a: 1 }, 'ünï "q"\n': [1e21, -0.5, null, '\u2028💥'] },
      notify: false,
      tags: [],
    }
    const { store, reader } = open({ file: createFile() })
    store.append('entry', [record(1, odd)], 100)
    expect(reader.entry('ent_run_1')).toEqual({ ...record(1, odd), feedback: [] })
    expect(Object.keys(reader.entry('ent_run_1')?.entry.metadata ?? {})).toEqual(['__proto__', 'ünï "q"\n'])
  })

  it('pages stay the same while more records arrive', () => {
    const { store, reader } = open({ file: createFile() })
    store.append(
      'entry',
      [1, 2, 3, 4, 5].map((seq) => record(seq)),
      500,
    )
    const first = reader.entries({ limit: 2 })
    store.append('entry', [record(6)], 100)
    const second = reader.entries({ limit: 2, cursor: first.next ?? 'none' })
    const third = reader.entries({ limit: 2, cursor: second.next ?? 'none' })
    expect([first, second, third].map(({ items }) => items.map(({ seq }) => seq))).toEqual([[5, 4], [3, 2], [1]])
    expect([third.next, reader.entries({ limit: 6 }).next]).toEqual([null, null])
  })

  it('drops the oldest entries beyond the count and the bytes', () => {
    const few = open({ maxEntries: 3, file: createFile() })
    for (let seq = 1; seq <= 5000; seq += 2) few.store.append('entry', [record(seq), record(seq + 1)], 400)
    expect(seqs(few.reader)).toEqual([5000, 4999, 4998])
    expect([few.reader.counts({}).total, few.reader.entry('ent_run_1')]).toEqual([3, undefined])

    const small = open({ maxBytes: 10_000, file: createFile() })
    for (let seq = 1; seq <= 100; seq++) {
      const big = record(seq, { message: 'x'.repeat(1000) })
      small.store.append('entry', [big], JSON.stringify(big).length)
    }
    // JSON and search text have about 1,200 and 1,000 bytes.
    expect(seqs(small.reader)).toEqual([100, 99, 98, 97])
  })

  it('has separate limits for other kinds, and the greatest seq of all kinds', () => {
    const { store } = open({ file: createFile() })
    store.append('entry', [record(1)], 100)
    for (let seq = 2; seq <= 10_102; seq++) {
      store.append(
        'heartbeat',
        [{ id: 'h', seq, received_at: '2026-01-01T00:00:00.000Z', monitor: 'm', name: null }],
        100,
      )
    }
    expect(store.recordCounts()).toMatchObject({ entry: 1, heartbeat: 10_000 })
    store.clear()
    expect([store.recordCounts().entry, store.recordCounts().heartbeat, store.lastSeq]).toEqual([0, 0, 10_102])
  })
})

it('has all records after a restart on the same file', () => {
  const file = freshFile()
  const before = open({ file }).store
  before.append('entry', [record(1, { message: 'ä' }), record(2)], 400)
  before.append(
    'heartbeat',
    [{ id: 'h', seq: 3, received_at: '2026-01-01T00:00:00.000Z', monitor: 'm', name: null }],
    100,
  )
  before.close()
  const { store, reader } = open({ file })
  expect(reader.entries({}).items).toEqual([record(2), record(1, { message: 'ä' })])
  expect([store.recordCounts().heartbeat, store.lastSeq]).toEqual([1, 3])
})

it('limits the size of the file too', () => {
  const file = freshFile()
  const { store } = open({ maxEntries: 10, file })
  const message = 'x'.repeat(10_000)
  for (let seq = 1; seq <= 2000; seq += 10) {
    store.append(
      'entry',
      Array.from({ length: 10 }, (_, n) => record(seq + n, { message })),
      100_000,
    )
  }
  store.close()
  expect(statSync(file.path).size).toBeLessThan(6_000_000)
})
