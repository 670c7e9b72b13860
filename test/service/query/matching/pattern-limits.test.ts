/** Time limits for regular expressions in queries, exports and streams. */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { StoreReader } from '../../../../src/service/store-reader.js'
import { Store } from '../../../../src/service/store/store.js'
import { StreamBroadcaster } from '../../../../src/service/stream/stream-broadcaster.js'
import { FakeClock } from '../../../fake-clock.js'
import { entryOf } from '../../support.js'

const record = (seq: number) => ({
  id: `e${seq}`,
  seq,
  received_at: '',
  batch_id: null,
  entry: entryOf({ message: `found ${seq}` }),
})

function openStore(count: number): { readonly store: Store; readonly reader: StoreReader } {
  const store = new Store({ maxEntries: 100, maxBytes: 1e6, onProblem: () => {} })
  store.append(
    'entry',
    Array.from({ length: count }, (_, n) => record(n + 1)),
    100,
  )
  return { store, reader: new StoreReader(store, () => 0) }
}

/** Advances the clock by `ms` with each read. */
function letTimePass(ms: number): void {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += ms))
  onTestFinished(() => clock.mockRestore())
}

const refused: unknown = expect.objectContaining({ code: 'QUERY', position: 0 })

it('allows 2 s in a query', () => {
  const { reader } = openStore(1)
  letTimePass(1900)
  expect(reader.counts({ q: '/found one|^found/' }).total).toBe(1)
  letTimePass(2100)
  expect(() => reader.counts({ q: '/found two|^found/' })).toThrow(refused)
})

it('allows 10 min in an export', () => {
  const { reader } = openStore(2)
  letTimePass(290_000)
  const text = [...reader.export({ q: '/^found/' })].join('')
  expect(text.split('\n')).toHaveLength(3)
  letTimePass(310_000)
  expect(() => [...reader.export({ q: '/^found/' })]).toThrow(refused)
})

it('allows 2 s for the first entries of a stream, and has no limit for later ones', async () => {
  const { store, reader } = openStore(2)
  const clock = new FakeClock()
  const streams = new StreamBroadcaster({ reader, lastSeq: store.lastSeq, clock })
  onTestFinished(() => streams.close())
  const written: string[] = []
  const response = Object.assign(new EventEmitter(), {
    writeHead: () => response,
    write: (text: string) => written.push(text) > 0,
    end: () => response,
  })
  const open = (afterSeq: number): unknown =>
    streams.open({ method: 'GET' } as IncomingMessage, response as unknown as ServerResponse, {
      filter: { q: '/^found/' },
      afterSeq,
    })
  letTimePass(1_000_000_000)
  expect(() => open(0)).toThrow(refused)
  open(2)
  for (const seq of [3, 4]) streams.recordsStored('entry', store.append('entry', [record(seq)], 100))
  await clock.advance(100)
  expect(written.join('')).toMatch(/found 3.*found 4/s)
})
