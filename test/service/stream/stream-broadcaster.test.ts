/** `GET /local/stream` over real sockets. */
import { describe, expect, it } from 'vitest'
import { createIngestService } from '../../../src/service/index.js'
import { MAX_WAITING_ENTRIES } from '../../../src/service/stream/stream-subscriber.js'
import { MAX_STREAMS } from '../../../src/service/stream/stream-broadcaster.js'
import { FakeClock } from '../../fake-clock.js'
import { openStream } from './stream-client.js'
import { call, entryOf, ingest, local, requestLog, started, until } from '../support.js'

function logs(from: number, count: number, fields = {}) {
  return Array.from({ length: count }, (_, n) => entryOf({ message: `m${from + n}`, ...fields }))
}

function names(from: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `m${from + n}`)
}

describe('the stream', () => {
  it('has the same filters as queries', async () => {
    const service = await started()
    const filters = [
      'level=error,fatal',
      'service=shop',
      'q=needle',
      'tag=x',
      'trace_id=t',
      'since=2026-02-01T00:00:00Z',
      'level=error&service=shop',
    ]
    const streams = await Promise.all(filters.map((filter) => openStream(service, `stream?${filter}`)))
    const all = await openStream(service)
    await ingest(service, [
      entryOf({ message: 'a', level: 'error' }),
      entryOf({ message: 'b', service: 'shop', level: 'error' }),
      entryOf({ message: 'c Needle' }),
      entryOf({ message: 'd', tags: ['x'], trace: { trace_id: 't' } }),
      entryOf({ message: 'e', timestamp: '2026-02-01T00:00:00Z' }),
    ])
    await until(() => all.messages().length === 5)
    for (const [n, filter] of filters.entries()) {
      const wanted = (await local(service, `entries?${filter}`)).json.items.map(
        ({ entry }: { entry: { message: string } }) => entry.message,
      )
      expect(wanted.length, filter).toBeGreaterThan(0)
      await until(() => streams[n]?.messages().length === wanted.length)
      expect(streams[n]?.messages().toReversed(), filter).toEqual(wanted)
    }
  })

  it('has the columns that each subscriber requests, also for missed entries', async () => {
    const service = await started()
    const entry = entryOf({ service: 'shop', metadata: { orderId: 7 } })
    await ingest(service, [entry])
    const paths = [
      'stream?after=0',
      'stream?after=0&columns=service',
      'stream?after=0&columns=service,metadata.orderId',
    ]
    const streams = await Promise.all(paths.map((path) => openStream(service, path)))
    await until(() => streams.every((stream) => stream.messages().length === 1))
    await ingest(service, [entry])
    await until(() => streams.every((stream) => stream.messages().length === 2))
    const columns = streams.map((stream) =>
      stream.events.flatMap(({ data }) => data.items.map((item: { columns?: unknown }) => item.columns)),
    )
    const both = { service: 'shop', 'metadata.orderId': '7' }
    expect(columns).toEqual([
      [undefined, undefined],
      [{ service: 'shop' }, { service: 'shop' }],
      [both, both],
    ])
  })

  it('reports other kinds by name, and resets', async () => {
    const service = await started()
    const stream = await openStream(service, 'stream?level=fatal')
    const kinds = () => new Set(stream.events.flatMap(({ event, data }) => (event === 'changed' ? data.kinds : [])))
    await call(`${service.url}/ingest/requests`, { body: { requests: [requestLog] } })
    await call(`${service.url}/feedback`, { body: { event_id: 'e', comments: 'c' } })
    await call(`${service.url}/releases/register`, { body: { version: '1' } })
    await call(`${service.url}/heartbeat/t`)
    await ingest(service, [entryOf(), { ...entryOf(), level: 'loud' }])
    await until(() => kinds().size === 5)
    expect(kinds()).toEqual(new Set(['request', 'feedback', 'release', 'heartbeat', 'rejected']))
    service.reset()
    await until(() => stream.events.some(({ event }) => event === 'reset'))
    expect(stream.events.find(({ event }) => event === 'reset')?.data).toEqual({})
    expect(stream.messages()).toEqual([])
  })
})

describe('a subscriber that reconnects', () => {
  it('gets every missed entry once, after any number of disconnections', async () => {
    const service = await started()
    const heard: string[] = []
    let lastId: string | undefined
    for (let round = 0; round < 6; round++) {
      const stream = await openStream(service, 'stream', lastId === undefined ? {} : { 'last-event-id': lastId })
      await ingest(service, logs(round * 100, 50))
      await until(() => stream.lastId() !== undefined)
      stream.leave()
      heard.push(...stream.messages())
      lastId = stream.lastId()
      await ingest(service, logs(round * 100 + 50, 50))
    }
    const last = await openStream(service, 'stream', { 'last-event-id': String(lastId) })
    await until(() => heard.length + last.messages().length >= 600)
    expect([...heard, ...last.messages()]).toEqual(names(0, 600))
    expect(last.skipped()).toBe(0)
  })

  it('resumes after `after`; Last-Event-ID has precedence', async () => {
    const service = await started()
    await ingest(service, logs(1, 10))
    const after = await openStream(service, 'stream?after=7')
    const both = await openStream(service, 'stream?after=2', { 'last-event-id': '9' })
    const start = await openStream(service, 'stream?after=0&q=m1')
    await until(() => after.messages().length > 0 && both.messages().length > 0 && start.messages().length > 0)
    expect(after.messages()).toEqual(['m8', 'm9', 'm10'])
    expect(both.messages()).toEqual(['m10'])
    expect(start.messages()).toEqual(['m1', 'm10'])
    for (const id of ['x', '-1', ''])
      expect((await local(service, 'stream', { headers: { 'last-event-id': id } })).status, id).toBe(400)
  })

  it('gets the newest 2,000 entries, and the number of skipped ones', async () => {
    const service = await started()
    for (let from = 1; from <= 2500; from += 100) await ingest(service, logs(from, 100))
    const stream = await openStream(service, 'stream?after=100')
    await until(() => stream.messages().length === MAX_WAITING_ENTRIES)
    expect(stream.messages()).toEqual(names(501, MAX_WAITING_ENTRIES))
    expect(stream.skipped()).toBe(400)
  })

  it('after a reset gets the event, and the entries since', async () => {
    const service = await started()
    await ingest(service, logs(1, 5))
    service.reset()
    await ingest(service, logs(6, 2))
    const stream = await openStream(service, 'stream', { 'last-event-id': '3' })
    await until(() => stream.messages().length === 2)
    expect(stream.events.map(({ event }) => event)).toEqual(['reset', 'entries'])
    expect(stream.messages()).toEqual(['m6', 'm7'])
    const knows = await openStream(service, 'stream', { 'last-event-id': '6' })
    await until(() => knows.messages().length === 1)
    expect(knows.events.map(({ event }) => event)).toEqual(['entries'])
  })

  it('to a restarted service starts from the beginning', async () => {
    const service = await started()
    await ingest(service, logs(1, 2))
    const stream = await openStream(service, 'stream', { 'last-event-id': '900' })
    await until(() => stream.messages().length === 2)
    expect(stream.events.map(({ event }) => event)).toEqual(['reset', 'entries'])
    await ingest(service, logs(3, 1))
    await until(() => stream.messages().length === 3)
  })
})

describe('limits', () => {
  it('at most 32 streams at once; the next gets a reason until one closes', async () => {
    const service = await started()
    const streams = await Promise.all(Array.from({ length: MAX_STREAMS }, () => openStream(service)))
    const { status, headers, json } = await local(service, 'stream')
    expect([status, headers['retry-after'], json.detail[0].msg]).toEqual([
      503,
      '5',
      expect.stringContaining(`${MAX_STREAMS} streams`),
    ])
    expect((await local(service, 'counts')).status).toBe(200)
    streams[0]?.leave()
    let again = 503
    for (let tries = 0; again === 503 && tries < 200; tries++)
      again = (await openStream(service)).response.statusCode ?? 0
    expect(again).toBe(200)
    await ingest(service, logs(1, 1))
    await until(() => streams.slice(1).every((stream) => stream.messages().length === 1))
  })
})

describe('the lifecycle of a stream', () => {
  it('a comment every 2 s keeps it open', async () => {
    const clock = new FakeClock()
    const stream = await openStream(await started({ clock }))
    const comments = () =>
      stream
        .text()
        .split('\n')
        .filter((line) => line === ':').length
    for (let n = 1; n <= 3; n++) {
      await clock.advance(2000)
      await until(() => comments() === n)
    }
  })

  it('ends when the service closes', async () => {
    const service = await createIngestService()
    const streams = [await openStream(service), await openStream(service)]
    await ingest(service, logs(1, 1))
    await service.close()
    await until(() => streams.every((stream) => stream.isEnded()))
    expect(streams.some((stream) => stream.isCutOff())).toBe(false)
  })
})
