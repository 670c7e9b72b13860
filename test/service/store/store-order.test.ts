/** The store keeps the orders of arrival and of time while records arrive and are dropped, and after a restart on its file. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { resolveStoreFile } from '../../../src/service/store/store-file.js'
import { Store } from '../../../src/service/store/store.js'
import { entryOf, requestLog } from '../support.js'
import { modelRuns } from '../../model-runs.js'

const START_MS = Date.parse('2026-01-31T08:00:00.000Z')
const iso = (second: number): string => new Date(START_MS + second * 1000).toISOString()

/** Every record contains its own size in bytes. */
const record = fc.record({ second: fc.integer({ min: -50, max: 50 }), received: fc.nat(100), bytes: fc.nat(400) })
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constantFrom('entry' as const, 'request' as const),
      batch: fc.array(record, { minLength: 1, maxLength: 8 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ deleteBefore: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.constant('clear' as const) },
  { weight: 1, arbitrary: fc.constant('restart' as const) },
)

function checkOrders(store: Store): void {
  for (const kind of ['entry', 'request'] as const) {
    const arrived = store.oldestFirst(kind) as readonly { readonly timeMs: number; readonly seq: number }[]
    const byTime = store.byTime(kind)
    const sorted = arrived.toSorted((a, b) => a.timeMs - b.timeMs || a.seq - b.seq)
    expect(byTime.filter(() => true)).toEqual(sorted)
    expect(arrived.map(({ seq }) => seq)).toEqual(arrived.map(({ seq }) => seq).toSorted((a, b) => a - b))
  }
}

it.each([
  ['in memory', false],
  ['with a file', true],
])('%s', (_, hasFile) => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
      const folder = mkdtempSync(join(tmpdir(), 'ingest-order-'))
      const file = hasFile ? resolveStoreFile(join(folder, 'store')) : undefined
      const open = (): Store =>
        new Store({ maxEntries: 20, maxBytes: 6000, file, onProblem: (message) => expect.unreachable(message) })
      let store = open()
      let seq = 0
      for (const one of steps) {
        const revision = store.revision
        if (one === 'clear') store.clear()
        else if (one === 'restart') {
          if (!hasFile) continue
          const before = store.byTime('entry').filter(() => true)
          store.close()
          store = open()
          // The file can have records that memory has dropped, so they may be back.
          const after = store.byTime('entry').filter(() => true)
          expect(after.map(({ record: { id } }) => id)).toEqual(
            expect.arrayContaining(before.map(({ record: { id } }) => id)),
          )
        } else if ('deleteBefore' in one) store.deleteOlder(START_MS + one.deleteBefore * 1000)
        else {
          for (const { second, received, bytes } of one.batch) {
            const stored = { id: `id_${++seq}`, seq, received_at: iso(received) }
            if (one.kind === 'entry')
              store.append(
                'entry',
                [{ ...stored, batch_id: null, entry: entryOf({ timestamp: iso(second), message: 'x'.repeat(bytes) }) }],
                bytes,
              )
            else store.append('request', [{ ...stored, request: { ...requestLog, timestamp: iso(second) } }], bytes)
          }
        }
        if (one !== 'restart') expect(store.revision).toBeGreaterThan(revision)
        checkOrders(store)
      }
      store.close()
      rmSync(folder, { recursive: true })
    }),
    { numRuns: modelRuns(hasFile ? 20 : 50, hasFile ? 60 : 500) },
  )
})

it('records of an edited file without a valid time are the oldest', () => {
  const folder = mkdtempSync(join(tmpdir(), 'ingest-order-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const store = new Store({
    maxEntries: 9,
    maxBytes: 1 << 20,
    file: resolveStoreFile(join(folder, 'store')),
    onProblem: () => {},
  })
  onTestFinished(() => store.close())
  for (const [n, timestamp] of ['2026-01-31T08:00:00Z', 'noon', '2026-01-31T07:00:00Z'].entries())
    store.append(
      'entry',
      [{ id: `id_${n}`, seq: n + 1, received_at: iso(0), batch_id: null, entry: entryOf({ timestamp }) }],
      100,
    )
  expect(
    store
      .byTime('entry')
      .filter(() => true)
      .map(({ seq }) => seq),
  ).toEqual([2, 3, 1])
})
