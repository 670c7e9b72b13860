/** `GET /local/export`: the same entries as the list, as a file, in parts. */
import { once } from 'node:events'
import { createServer, request as httpRequest } from 'node:http'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sendExport } from '../../../src/service/http/export-writer.js'
import { createEntryMatcher } from '../../../src/service/query/query-filters.js'
import { exportEntries } from '../../../src/service/query/entry-export.js'
import { Store } from '../../../src/service/store/store.js'
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

describe('NDJSON', () => {
  it('has the same entries as the list, in the same order', async () => {
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
      expect(lines(text), filter).toEqual(service.entries({ ...query, limit: Infinity }).items)
    }
  })

  it('has the requested columns only', async () => {
    const service = await started()
    await ingest(service, [entryOf({ metadata: { 'a,b': 1, order: { id: 7 } } }), entryOf({ service: 'shop' })])
    const { text } = await local(
      service,
      `export?columns=${encodeURIComponent('level,"metadata.a,b",metadata.order.id,service')}`,
    )
    expect(lines(text)).toEqual([
      { level: 'info', service: 'shop' },
      { level: 'info', 'metadata.a,b': '1', 'metadata.order.id': '7' },
    ])
  })
})

describe('CSV', () => {
  it('quotes cells, and protects formulas', async () => {
    const service = await started()
    const messages = [
      'plain',
      'a "quoted", text',
      'two\nlines',
      '=1+1',
      '@SUM(A1)',
      '-cmd',
      '-12.5',
      '+3e4',
      '\tx',
      '\n=1',
      '＝1',
      '＋1',
      '－1',
      '＠A1',
      '\uFEFF=1',
      'a;=1',
      'a\t=1',
      'ä💥',
    ]
    await ingest(
      service,
      messages.map((message) => entryOf({ message })),
    )
    const { headers, text } = await local(
      service,
      `export?format=csv&columns=${encodeURIComponent('level,message,"a,b"')}`,
    )
    expect(headers['content-type']).toBe('text/csv; charset=utf-8; header=present')
    const cells = [
      'plain',
      '"a ""quoted"", text"',
      '"two\nlines"',
      "'=1+1",
      "'@SUM(A1)",
      "'-cmd",
      '-12.5',
      '+3e4',
      `"'\tx"`,
      `"'\n=1"`,
      "'＝1",
      "'＋1",
      "'－1",
      "'＠A1",
      "'\uFEFF=1",
      '"a;=1"',
      '"a\t=1"',
      'ä💥',
    ]
    expect(text).toBe(['level,message,"a,b"', ...cells.toReversed().map((cell) => `info,${cell},`), ''].join('\r\n'))
  })

  it('protects column names, which can come from logged metadata', async () => {
    const service = await started()
    await ingest(service, [entryOf({ metadata: { '=1+1': 2 } })])
    const { text } = await local(
      service,
      `export?format=csv&columns=${encodeURIComponent('=1+1,"@SUM(a,b)",-x,level')}`,
    )
    expect(text).toBe(`'=1+1,"'@SUM(a,b)",'-x,level\r\n2,,,info\r\n`)
  })

  it('has the default columns unless others are requested', async () => {
    const service = await started()
    await ingest(service, [
      entryOf({ error: { type: 'RangeError' }, request: { status_code: 502 }, metadata: { a: 1 } }),
    ])
    const [head, row] = (await local(service, 'export?format=csv')).text.split('\r\n')
    expect(head).toMatch(/^timestamp,level,service,environment,version,message,error\.type,/)
    expect(row).toBe('2026-01-31T08:00:00.000Z,info,,,,hello,RangeError,,,,502,,,,,"{""a"":1}"')
  })
})

describe('its transfer', () => {
  it('waits for a slow client, replies to others meanwhile, and omits later entries', async () => {
    const service = await started()
    await fill(service, 4000, 'x'.repeat(4000))
    const expected = service.entries({ limit: Infinity }).items.map(({ id }) => id)
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
      sendExport(request, response, { format: 'ndjson', parts, at: new Date(0) }).then(
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

  it('has no body for HEAD, and refuses unknown formats', async () => {
    const service = await started()
    await ingest(service, [entryOf()])
    const head = await local(service, 'export?format=csv', { method: 'HEAD' })
    expect([head.status, head.text, head.headers['content-type']]).toEqual([
      200,
      '',
      'text/csv; charset=utf-8; header=present',
    ])
    for (const query of ['format=xml', 'q=a&limit=1', 'since=noon', 'columns=', 'level=loud'])
      expect((await local(service, `export?${query}`)).status, query).toBe(400)
  })
})

it('works in short parts, and continues if entries are dropped in between', () => {
  const store = new Store({
    maxEntries: 20_000,
    maxBytes: 1 << 28,
    onProblem: (message) => expect.unreachable(message),
  })
  const append = (from: number, count: number) =>
    store.append(
      'entry',
      Array.from({ length: count }, (_, n) => ({
        id: `ent_${from + n}`,
        seq: from + n,
        received_at: '2026-01-31T08:00:00.000Z',
        batch_id: null,
        entry: entryOf({
          timestamp: new Date(Date.UTC(2026, 0, 1) + (from + n) * 10).toISOString(),
          message: 'x'.repeat(200),
        }),
      })),
      count * 300,
    )
  append(1, 20_000)
  const index = store.byTime('entry')
  const parts = exportEntries(index, {
    filter: {},
    matches: createEntryMatcher({}),
    format: 'ndjson',
    columns: undefined,
    lastSeq: 20_000,
  })
  const first = String(parts.next().value)
  expect(first.length).toBeLessThan(128 * 1024)
  append(20_001, 10_000)
  const ids = lines(first + [...parts].join('')).map((record) => (record as { seq: number }).seq)
  expect(ids).toEqual(Array.from({ length: 10_000 }, (_, n) => 20_000 - n))
  const nowhere = exportEntries(index, {
    filter: {},
    matches: () => false,
    format: 'ndjson',
    columns: undefined,
    lastSeq: 20_000,
  })
  expect([...nowhere].join('')).toBe('')
})
