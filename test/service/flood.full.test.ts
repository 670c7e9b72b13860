/** Sends large bodies to the built service in its own process: its memory stays bounded, and other clients get replies. */
import { expect, it } from 'vitest'
import { head, rawClient } from './raw-client.js'
import type { RawClient } from './raw-client.js'
import { startChild } from './service-child.js'
import type { ServiceChild } from './service-child.js'
import { call, entryOf, until } from './support.js'

const MIB = 1 << 20
const INGEST = '/api/v1/ingest'

/** Checks that the service still replies to an application and to the page. */
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

function createStatus(client: RawClient): number {
  return Number(/^HTTP\/1\.1 (\d+)/.exec(client.text())?.[1])
}

/** Growth of the peak memory in MiB. */
async function grownMib(service: ServiceChild, before: number): Promise<number> {
  const { peakBytes } = await service.memory()
  return Math.round((peakBytes - before) / MIB)
}

async function startMeasured(options = {}): Promise<{ service: ServiceChild; before: number }> {
  const service = await startChild(options)
  // Loads modules first, because their memory is not due to the flood.
  await servesOthers(service)
  return { service, before: (await service.memory()).peakBytes }
}

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
  expect(createStatus(client)).toBe(413)
  // The service reads some more before it closes, because the client must get the reply.
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
  // At most 256 MiB of bodies are pending.
  expect(await grownMib(service, before)).toBeLessThan(500)
  for (const { socket } of clients) socket.write(body.subarray(-1))
  await until(() => clients.every((client) => createStatus(client) > 0), 20_000)
  const statuses = clients.map(createStatus)
  expect(new Set(statuses)).toEqual(new Set([200, 503]))
  expect(statuses.filter((status) => status === 200).length).toBeGreaterThan(40)
  await servesOthers(service)
  expect(await grownMib(service, before)).toBeLessThan(1200)
})
