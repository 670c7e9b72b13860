/** Time limits for regular expressions in queries and streams. */
import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { StoreReader } from '../../../../src/service/store-reader.js'
import type { Store } from '../../../../src/service/store/store.js'
import { StreamBroadcaster } from '../../../../src/service/stream/stream-broadcaster.js'
import { FakeClock } from '../../../fake-clock.js'
import { openStore, storedEntry } from '../../store/open-store.js'

const record = (seq: number) => storedEntry(seq, { message: `found ${seq}` })

function openReader(count: number): { readonly store: Store; readonly reader: StoreReader } {
  const { store } = openStore()
  store.append(
    'entry',
    Array.from({ length: count }, (_, n) => record(n + 1)),
    100,
  )
  return { store, reader: new StoreReader(store) }
}

/** Advances the clock by `ms` with each read. */
function letTimePass(ms: number): void {
  let now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += ms))
  onTestFinished(() => clock.mockRestore())
}

const refused: unknown = expect.objectContaining({ code: 'QUERY', position: 0 })

it('allows 2 s in a query', () => {
  const { reader } = openReader(1)
  letTimePass(1900)
  expect(reader.counts({ q: '/found one|^found/' }).total).toBe(1)
  letTimePass(2100)
  expect(() => reader.counts({ q: '/found two|^found/' })).toThrow(refused)
})

it('allows 2 s for the first entries of a stream, and has no limit for later ones', async () => {
  const { store, reader } = openReader(2)
  const clock = new FakeClock()
  const streams = new StreamBroadcaster({ reader, lastSeq: store.lastSeq, clock })
  onTestFinished(() => streams.close())
  const written: string[] = []
  const response = Object.assign(new EventEmitter(), {
    writeHead: () => response,
    write: (text: string) => written.push(text) > 0,
    end: () => response,
    setTimeout: () => response,
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
