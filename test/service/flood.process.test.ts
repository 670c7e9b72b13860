/** Clients that flood, dawdle or do not listen, against the built service in a process of its own: the others get their answers, and its memory is bounded. */
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { head, rawClient } from './raw-client.js'
import type { RawClient } from './raw-client.js'
import { startChild } from './service-child.js'
import type { ServiceChild } from './service-child.js'
import { call, entryOf, until } from './support.js'

const MIB = 1 << 20
const INGEST = '/api/v1/ingest'

/** As an application does in the meantime; it is answered each time. */
async function servesOthers({ url, origin, token }: ServiceChild, times = 5): Promise<void> {
  for (let n = 0; n < times; n++) {
    expect((await call(`${url}/ingest`, { body: { batch_id: 'b', logs: [entryOf()] } })).status).toBe(200)
    expect((await call(`${origin}/local/counts?token=${token}`, { method: 'GET' })).json.total).toBeGreaterThan(0)
    expect((await call(`${origin}/`, { method: 'GET' })).status).toBe(200)
  }
}

function many(count: number, port: number): RawClient[] {
  return Array.from({ length: count }, () => rawClient({ port }))
}

function statusOf(client: RawClient): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(client.text())?.[1])
}

/** What the flood added at its worst. */
async function grownMib(service: ServiceChild, before: number): Promise<number> {
  const { peakBytes } = await service.memory()
  return Math.round((peakBytes - before) / MIB)
}

async function startMeasured(options = {}): Promise<{ service: ServiceChild; before: number }> {
  const service = await startChild(options)
  // What any request loads is not what the flood costs.
  await servesOthers(service)
  return { service, before: (await service.memory()).peakBytes }
}

it('200 that send a head byte by byte, and 200 that send a body so', async () => {
  const { service, before } = await startMeasured()
  const [heads, bodies] = [many(200, service.port), many(200, service.port)]
  const text = head(INGEST, { 'content-length': 1000 })
  for (const { socket } of bodies) socket.write(text)
  for (let at = 0; at < 50; at++) {
    for (const { socket } of heads) socket.write(text.charAt(at))
    for (const { socket } of bodies) socket.write(' ')
    await servesOthers(service, 1)
  }
  expect([...heads, ...bodies].filter((one) => one.isClosed())).toEqual([])
  expect(await grownMib(service, before)).toBeLessThan(100)
})

it.each([
  ['with', { 'content-length': 1024 * MIB }],
  ['without', { 'transfer-encoding': 'chunked' }],
])('a body of 1 GiB, %s its length', async (_name, fields) => {
  const { service, before } = await startMeasured()
  const client = rawClient({ port: service.port })
  client.socket.write(head(INGEST, fields))
  const piece = Buffer.alloc(MIB, 32)
  const chunk =
    'content-length' in fields
      ? piece
      : Buffer.concat([Buffer.from(`${MIB.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
  let sentMib = 0
  for (; sentMib < 1024 && !client.isClosed(); sentMib++) {
    const isTaken = client.socket.write(chunk)
    if (!isTaken) await until(() => client.isClosed() || client.socket.writableLength === 0)
    if (sentMib % 8 === 0) await servesOthers(service, 1)
  }
  expect(statusOf(client)).toBe(413)
  // It reads on a while, so that the answer is read, and no longer.
  expect(client.isClosed()).toBe(true)
  expect(sentMib).toBeLessThan(200)
  expect(await grownMib(service, before)).toBeLessThan(200)
})

it('64 bodies of 5 MiB at once, each without its last byte', async () => {
  const { service, before } = await startMeasured()
  const logs = Array.from({ length: 100 }, () => entryOf({ metadata: { pad: 'x'.repeat(52_000) } }))
  const body = Buffer.from(JSON.stringify({ batch_id: 'b', logs }))
  expect(body.length).toBeLessThan(5 * MIB)
  const clients = many(64, service.port)
  for (const { socket } of clients) {
    socket.write(head(INGEST, { 'content-length': body.length }))
    socket.write(body.subarray(0, -1))
  }
  await until(() => clients.every(({ socket }) => socket.writableLength === 0), 20_000)
  await servesOthers(service)
  // 256 MiB are what may wait; of them and of the rest this is all there is.
  expect(await grownMib(service, before)).toBeLessThan(500)
  for (const { socket } of clients) socket.write(body.subarray(-1))
  await until(() => clients.every((client) => statusOf(client) > 0), 20_000)
  const statuses = clients.map(statusOf)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(40)
  await servesOthers(service)
  expect(await grownMib(service, before)).toBeLessThan(1200)
})

it('gzip bombs: 200 small bodies that become 5 MiB or more', async () => {
  const { service, before } = await startMeasured()
  const bombs = [200 * MIB, 5 * MIB - 100].map((length) => gzipSync(Buffer.alloc(length, 32), { level: 9 }))
  const answers = await Promise.all([
    ...Array.from({ length: 200 }, (_, n) =>
      call(`${service.url}/ingest`, { body: bombs[n % 2], headers: { 'content-encoding': 'gzip' } }),
    ),
    servesOthers(service),
  ])
  const statuses = answers.flatMap((one) => (one === undefined ? [] : [one.status]))
  expect(new Set(statuses)).toEqual(new Set([413, 400]))
  expect(await grownMib(service, before)).toBeLessThan(400)
})

it('1,100 idle connections more than there is room for', async () => {
  const { service, before } = await startMeasured({ maxConnections: 200 })
  const idle = many(1300, service.port)
  const open = () => idle.filter((one) => !one.isClosed()).length
  await until(() => open() <= 200, 20_000)
  // The first of them may find no room: those that hold it are young.
  for (let answered = 0; answered < 20;) {
    const isAnswered = await call(`${service.url}/ingest`, { body: { batch_id: 'b', logs: [] } }).then(
      () => true,
      () => false,
    )
    if (isAnswered) answered++
  }
  expect(open()).toBeLessThanOrEqual(200)
  await servesOthers(service, 20)
  expect(await grownMib(service, before)).toBeLessThan(100)
})

it('one that asks and asks and never reads an answer', async () => {
  const { service, before } = await startMeasured()
  const logs = Array.from({ length: 100 }, () => entryOf({ metadata: { pad: 'x'.repeat(20_000) } }))
  for (let n = 0; n < 10; n++) await call(`${service.url}/ingest`, { body: { batch_id: 'b', logs } })
  const asks = [
    head(`/local/entries?limit=1000&token=${service.token}`, {}, 'GET'),
    head('/local/entries', {}, 'GET'),
    `${head(INGEST, { 'content-length': 2 })}{}`,
    head('/page/main.js', {}, 'GET'),
  ]
  // Some stop within the bound and some do not; none of them reads.
  const deaf = asks.flatMap((ask) =>
    [1, 1000].map((rounds) => ({
      ask: ask.repeat(90),
      rounds,
      client: rawClient({ port: service.port, reads: false }),
    })),
  )
  for (const { client } of deaf) client.socket.pause()
  for (let round = 0; round < 40; round++) {
    for (const { ask, rounds, client } of deaf)
      if (round < rounds && client.socket.writableLength < MIB) client.socket.write(ask)
    await servesOthers(service, 1)
  }
  expect(deaf.filter(({ client, rounds }) => rounds === 1 && client.isClosed())).toEqual([])
  expect(await grownMib(service, before)).toBeLessThan(600)
})
