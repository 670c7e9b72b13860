/** `GET /local/export`: the same entries as the list, as a file, in parts. */
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sendExport } from '../../../src/service/http/response-writer.js'
import type { IngestService } from '../../../src/service/index.js'
import { entryOf, ingest, local, started, until } from '../support.js'

const lines = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)

async function fill(service: IngestService, count: number, padding = ''): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const logs = Array.from({ length: Math.min(100, count - from) }, (_, n) =>
      entryOf({
        message: `message ${from + n}${padding}`,
        level: (from + n) % 3 === 0 ? 'error' : 'info',
        timestamp: new Date(Date.UTC(2026, 0, 31) + (((from + n) * 7919) % count) * 1000).toISOString(),
      }),
    )
    await ingest(service, logs, `batch-${from}`)
  }
}

/** Returns the response without reading it. */
function open(service: IngestService, path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${service.token}` }
    httpRequest(`${service.origin}/local/${path}`, { headers, agent: false }, resolve).on('error', reject).end()
  })
}

describe('its lines', () => {
  it('has the same entries as the list, oldest first', async () => {
    const service = await started()
    await fill(service, 2500)
    for (const filter of [
      '',
      'level=error',
      'q=message%201',
      'since=2026-01-31T00:10:00Z&until=2026-01-31T00:20:00Z',
      'service=none',
    ]) {
      const { status, headers, text } = await local(service, `export?${filter}`)
      expect([status, headers['content-type'], headers['content-disposition']]).toEqual([
        200,
        'application/x-ndjson; charset=utf-8',
        expect.stringMatching(/^attachment; filename="entries-[\dT-]+Z\.ndjson"$/),
      ])
      const query = Object.fromEntries(new URLSearchParams(filter))
      expect(lines(text), filter).toEqual(service.entries({ ...query, limit: Infinity }).items.toReversed())
    }
  })
})

describe('its transfer', () => {
  it('waits for a slow client, replies to others meanwhile, and omits later entries', async () => {
    const service = await started()
    await fill(service, 4000, 'x'.repeat(4000))
    const expected = service
      .entries({ limit: Infinity })
      .items.map(({ id }) => id)
      .toReversed()
    const response = await open(service, 'export')
    await sleep(50)
    // The socket is full. These entries sort before and after those already sent.
    await ingest(service, [
      entryOf({ timestamp: '2020-01-01T00:00:00.000Z' }),
      entryOf({ timestamp: '2030-01-01T00:00:00.000Z' }),
    ])
    expect((await local(service, 'counts')).json.total).toBe(4002)
    let text = ''
    for await (const part of response.setEncoding('utf8')) text += part as string
    expect(lines(text).map((record) => (record as { id: string }).id)).toEqual(expected)
  })

  /** Starts a server that sends these parts, and returns the unread response to one request. */
  async function send(parts: Iterable<string>) {
    const outcomes: unknown[] = []
    const server = createServer((request, response) => {
      sendExport(request, response, parts).then(
        () => outcomes.push('sent'),
        (error: unknown) => outcomes.push(error),
      )
    })
    onTestFinished(() => void server.close())
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      httpRequest({ port, agent: false }, resolve).on('error', reject).end()
    })
    return { response, outcomes }
  }

  it.each([
    ['reads', true, 'x'.repeat(10_000)],
    ['does not read', false, 'x'.repeat(10_000)],
    ['waits for the first match', true, ''],
  ])('ends when a client that %s disconnects', async (_, isReading, part) => {
    let isEnded = false
    let created = 0
    function* endless() {
      try {
        for (;;) {
          created++
          yield part
        }
      } finally {
        isEnded = true
      }
    }
    const { response, outcomes } = await send(endless())
    if (isReading) response.resume()
    await until(() => created > 20)
    const before = created
    await sleep(50)
    if (isReading) expect(created).toBeGreaterThan(before)
    response.destroy()
    await until(() => isEnded)
    expect(outcomes).toEqual(['sent'])
  })

  it('closes the connection if a part cannot be created: the file must not look complete', async () => {
    const failure = new Error('broken')
    function* broken() {
      yield 'one\n'
      throw failure
    }
    const { response, outcomes } = await send(broken())
    response.on('error', () => {})
    response.resume()
    await new Promise((resolve) => response.once('close', resolve))
    expect([response.complete, outcomes]).toEqual([false, [failure]])
  })
})
