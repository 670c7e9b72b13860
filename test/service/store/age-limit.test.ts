/** Deletion by age, in memory and in the file. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { RECORD_KINDS } from '../../../src/service/store/stored-record.js'
import type { StoredEntry } from '../../../src/service/store/stored-record.js'
import { resolveStoreFile } from '../../../src/service/store/store-file.js'
import { Store } from '../../../src/service/store/store.js'
import { entryOf, requestLog } from '../support.js'

const START_MS = Date.parse('2026-01-31T08:00:00.000Z')

const minuteMs = (minute: number): number => START_MS + minute * 60_000
const received = (minute: number): string => new Date(minuteMs(minute)).toISOString()
const entryAt = (seq: number, minute: number, message = `message ${seq}`): StoredEntry => ({
  id: `ent_run_${seq.toString(36)}`,
  seq,
  received_at: received(minute),
  batch_id: null,
  entry: entryOf({ message }),
})

function freshFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-age-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return join(folder, 'store')
}

function open(file?: string): Store {
  const store = new Store({
    maxEntries: 1000,
    maxBytes: 1 << 20,
    file: file === undefined ? undefined : resolveStoreFile(file),
    onProblem: (message) => expect.unreachable(message),
  })
  onTestFinished(() => store.close())
  return store
}

const seqs = (store: Store): number[] => store.oldestFirst('entry').map(({ seq }) => seq)
const seqsOnDisk = (file: string): number[] =>
  [...new Set([...readFileSync(file, 'latin1').matchAll(/message (\d+)/g)].map(([, seq]) => Number(seq)))].toSorted(
    (a, b) => a - b,
  )

it('deletes records of every kind by time of receipt, even if the wall clock was set back', () => {
  const store = open()
  store.append('entry', [entryAt(1, 10), entryAt(2, 0), entryAt(3, 20)], 300)
  const base = { id: 'x', seq: 4, received_at: received(5) }
  store.append('request', [{ ...base, request: requestLog }], 100)
  store.append('feedback', [{ ...base, feedback: { event_id: 'e', comments: 'c' } }], 100)
  store.append('release', [{ ...base, release_id: 'r', release: { version: '1' } }], 100)
  store.append('heartbeat', [{ ...base, monitor: 'm', name: null }], 100)
  store.append(
    'rejected',
    [{ ...base, endpoint: 'ingest', batch_id: null, status: 422, entries: 1, accepted: 0, reasons: [] }],
    100,
  )
  store.deleteOlder(minuteMs(5))
  expect([seqs(store), RECORD_KINDS.map((kind) => store.recordCounts()[kind])]).toEqual([
    [1, 3],
    [2, 1, 1, 1, 1, 1],
  ])
  store.deleteOlder(minuteMs(5) + 1)
  expect(RECORD_KINDS.map((kind) => store.recordCounts()[kind])).toEqual([2, 0, 0, 0, 0, 0])
})

it('deletes them from the file, including records that were dropped earlier', () => {
  const file = freshFile()
  const store = new Store({
    maxEntries: 2,
    maxBytes: 1 << 20,
    file: resolveStoreFile(file),
    onProblem: (message) => expect.unreachable(message),
  })
  onTestFinished(() => store.close())
  store.append('entry', [entryAt(1, 0), entryAt(2, 10), entryAt(3, 10)], 300)
  expect([seqs(store), seqsOnDisk(file)]).toEqual([
    [2, 3],
    [1, 2, 3],
  ])
  store.deleteOlder(minuteMs(5))
  expect(seqsOnDisk(file)).toEqual([2, 3])
})

it('the file has only the stored records, for any order of receipt', () => {
  const batch = fc.array(fc.record({ minute: fc.integer({ min: 0, max: 99 }), length: fc.nat(6000) }), {
    minLength: 1,
    maxLength: 12,
  })
  const steps = fc.array(fc.record({ batch, before: fc.integer({ min: 0, max: 99 }) }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(steps, (all) => {
      const file = freshFile()
      const store = open(file)
      let seq = 0
      for (const { batch: made, before } of all) {
        for (const { minute, length } of made)
          store.append('entry', [entryAt(++seq, minute, `message ${seq} `.repeat(1 + length / 10))], 100)
        store.deleteOlder(minuteMs(before))
      }
      expect(seqsOnDisk(file)).toEqual(seqs(store))
      store.close()
      expect(seqs(open(file))).toEqual(seqs(store))
    }),
    { numRuns: 30 },
  )
})

it('a cleared store has nothing on disk', () => {
  const file = freshFile()
  const store = open(file)
  for (let seq = 1; seq <= 500; seq++) store.append('entry', [entryAt(seq, 0)], 100)
  store.clear()
  expect(readFileSync(file).length).toBeLessThan(1000)
  store.append('entry', [entryAt(501, 1)], 100)
  expect(seqsOnDisk(file)).toEqual([501])
})
