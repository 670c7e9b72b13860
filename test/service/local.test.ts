import { describe, expect, it } from 'vitest'
import { call, entryOf, ingest, started } from './support.js'

const get = (origin: string, path: string, headers = {}) => call(`${origin}/local/${path}`, { method: 'GET', headers })

describe('queries over HTTP', () => {
  it('are the same as in-process', async () => {
    const service = await started()
    await ingest(service, [
      entryOf({ service: 'a', level: 'warn', tags: ['x'], trace: { trace_id: 't' } }),
      entryOf({ message: 'Second & last', level: 'error' }),
    ])
    await call(`${service.url}/feedback`, { body: { event_id: 'e', comments: 'c' } })
    await call(`${service.url}/releases/register`, { body: { version: '1' } })
    await call(`${service.url}/heartbeat/token-7`)
    await call(`${service.url}/ingest`, { body: { batch_id: 'bad', logs: [1] } })
    const { origin } = service
    expect((await get(origin, 'entries')).json).toEqual(service.entries())
    expect((await get(origin, 'entries?level=warn,fatal&service=a&tag=x&trace_id=t')).json.items).toHaveLength(1)
    expect((await get(origin, 'entries?q=second%20%26')).json.items).toHaveLength(1)
    const page = (await get(origin, 'entries?limit=1')).json
    expect((await get(origin, `entries?limit=1&cursor=${page.next}`)).json.items).toEqual([service.entries().items[1]])
    expect((await get(origin, 'counts?level=error')).json).toMatchObject({ error: 1, total: 1 })
    expect((await get(origin, `entries/${page.items[0].id}`)).json).toEqual(service.entry(page.items[0].id))
    expect((await get(origin, 'requests')).json.items).toEqual(service.requests)
    expect((await get(origin, 'request-logs')).json).toEqual(service.requestLogs())
    expect((await get(origin, 'feedback')).json).toEqual(service.feedback())
    expect((await get(origin, 'releases')).json).toEqual(service.releases())
    expect((await get(origin, 'heartbeats')).json).toEqual(service.heartbeats())
    const { items } = (await get(origin, 'rejected')).json
    expect(items).toMatchObject([
      { batch_id: 'bad', status: 422, reasons: [{ loc: ['logs', 0], message: 'value is not a valid dict' }] },
    ])
  })

  it.each([
    'entries?level=loud',
    'entries?colour=red',
    'entries?limit=1001',
    'entries?limit=x',
    'entries?cursor=-',
    'entries?q=a&q=b',
    'entries?since=noon',
  ])('%s is refused with a reason', async (path) => {
    const { status, json } = await get((await started()).origin, path)
    expect([status, json.detail[0].type]).toEqual([400, 'QUERY'])
  })

  it('know 404 and 405', async () => {
    const { origin } = await started()
    for (const path of ['', 'nope', 'entries/none', 'constructor'])
      expect((await get(origin, path)).status, path).toBe(404)
    const { status, headers } = await call(`${origin}/local/entries`, { body: {} })
    expect([status, headers.allow]).toEqual([405, 'GET'])
  })

  it('reset forgets everything', async () => {
    const service = await started({ dedupeBatches: true })
    await ingest(service, [entryOf()])
    service.faults.add({ kind: 'hang', endpoint: 'feedback' })
    expect((await call(`${service.origin}/local/reset`)).status).toBe(200)
    expect([service.counts().total, service.requests.length, service.faults.list().length, service.arrived]).toEqual([
      0, 0, 0, 0,
    ])
    await ingest(service, [entryOf()])
    expect(service.counts().total).toBe(1)
  })
})

describe('who may read', () => {
  it.each(['evil.example', 'evil.example:4319', '127.0.0.1.evil.example', 'localhost.evil', '[::1]x'])(
    'not by Host %j',
    async (host) => {
      const { origin } = await started()
      expect((await get(origin, 'entries', { host })).status).toBe(403)
    },
  )

  it.each(['localhost:1', '127.0.0.1', '[::1]:4319', 'LOCALHOST'])('by Host %s', async (host) => {
    expect((await get((await started()).origin, 'entries', { host })).status).toBe(200)
  })

  it('only from a page of its own', async () => {
    const { origin } = await started()
    expect((await get(origin, 'entries', { origin })).status).toBe(200)
    for (const other of ['http://evil.example', 'null', 'http://127.0.0.1:1', origin.replace('http', 'https')]) {
      expect((await get(origin, 'entries', { origin: other })).status, other).toBe(403)
      expect(
        (await call(`${origin}/local/faults`, { body: { kind: 'hang' }, headers: { origin: other } })).status,
      ).toBe(403)
      expect((await call(`${origin}/local/reset`, { headers: { origin: other } })).status).toBe(403)
    }
  })
})
