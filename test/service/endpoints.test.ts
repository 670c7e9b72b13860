import { describe, expect, it } from 'vitest'
import { backgroundClock } from '../../src/shared/clock.js'
import { call, entryOf, ingest, newest, requestLog, started } from './support.js'

describe('POST /ingest', () => {
  it('stores each entry with an id, its batch and the time of receipt', async () => {
    const service = await started({ clock: { ...backgroundClock, wallNow: () => Date.UTC(2026, 0, 1) } })
    const { status, json } = await ingest(
      service,
      [entryOf({ message: 'a' }), entryOf({ message: 'b' })],
      'free-form-7',
    )
    expect([status, json]).toEqual([200, { accepted: 2, rejected: 0, errors: [], message: '2 accepted' }])
    const { items } = service.entries()
    expect(items.map(({ entry }) => entry.message)).toEqual(['b', 'a'])
    expect(items[0]).toMatchObject({ batch_id: 'free-form-7', received_at: '2026-01-01T00:00:00.000Z' })
    expect(new Set(items.map(({ id }) => id)).size).toBe(2)
  })

  it('accepts 100 entries, none, and a batch without a batch_id', async () => {
    const service = await started()
    expect(
      (
        await ingest(
          service,
          Array.from({ length: 100 }, () => entryOf()),
        )
      ).json.accepted,
    ).toBe(100)
    expect((await ingest(service, [])).json).toMatchObject({ accepted: 0, rejected: 0 })
    expect((await call(`${service.url}/ingest`, { body: { logs: [entryOf()] } })).status).toBe(200)
    expect(service.entries({ limit: 1 }).items[0]?.batch_id).toBeNull()
  })

  it('stores nothing of a batch with an invalid entry if partial is false', async () => {
    const service = await started({ partial: false })
    const { status, json } = await ingest(service, [entryOf(), { ...entryOf(), level: 'x' }])
    expect([status, json.accepted, json.rejected, json.errors[0].index]).toEqual([422, 0, 1, 1])
    expect(service.counts().total).toBe(0)
  })

  it('replies with 200 to a partly accepted batch if partialStatus is 200', async () => {
    const service = await started({ partialStatus: 200 })
    const { status, json } = await ingest(service, [entryOf(), { ...entryOf(), level: 'x' }])
    expect([status, json.accepted, json.rejected]).toEqual([200, 1, 1])
  })

  it('stores a batch twice by default, once with dedupeBatches, with the same reply', async () => {
    const plain = await started()
    await ingest(plain, [entryOf()])
    await ingest(plain, [entryOf()])
    expect(plain.counts().total).toBe(2)
    expect(plain.requests.map(({ batchId }) => batchId)).toEqual(['batch-1', 'batch-1'])

    const dedupes = await started({ dedupeBatches: true })
    const [first, second] = [await ingest(dedupes, [entryOf()]), await ingest(dedupes, [entryOf()])]
    expect(second.json).toEqual(first.json)
    expect(dedupes.counts().total).toBe(1)
    expect(dedupes.requests).toHaveLength(2)
  })
})

describe('the other endpoints', () => {
  it('store request logs', async () => {
    const service = await started()
    const { status, json } = await call(`${service.url}/ingest/requests`, {
      body: { requests: [requestLog, requestLog] },
    })
    expect([status, json.accepted]).toEqual([200, 2])
    expect(service.requestLogs().items.map(({ request }) => request)).toEqual([requestLog, requestLog])
    const wrong = await call(`${service.url}/ingest/requests`, {
      body: { requests: [{ ...requestLog, timestamp: 'noon' }] },
    })
    expect([wrong.status, wrong.json.detail[0].loc]).toEqual([422, ['body', 'requests', 0, 'timestamp']])
  })

  it('attach feedback by metadata.event_id or by id, before or after its entry arrives', async () => {
    const service = await started()
    const feedback = { event_id: 'event-9', comments: 'it broke' }
    const early = await call(`${service.url}/feedback`, { body: feedback })
    expect([early.status, early.json.attached]).toEqual([200, false])
    await ingest(service, [entryOf({ metadata: { event_id: 'event-9' } })])
    const { id } = newest(service)
    const late = await call(`${service.url}/feedback`, { body: { event_id: id, comments: 'again', name: 'n' } })
    expect(late.json.attached).toBe(true)
    expect(service.entry(id)?.feedback.map((item) => item.feedback.comments)).toEqual(['it broke', 'again'])
    expect(service.feedback().items).toHaveLength(2)
  })

  it('return the same release_id whenever a version is registered again', async () => {
    const service = await started()
    const register = (body: unknown) => call(`${service.url}/releases/register`, { body })
    const [first, again, other] = [
      await register({ version: '1' }),
      await register({ version: '1' }),
      await register({ version: '2' }),
    ]
    expect(first.json.release_id).toEqual(expect.any(String))
    expect(again.json.release_id).toBe(first.json.release_id)
    expect(other.json.release_id).not.toBe(first.json.release_id)
  })

  it('accept a heartbeat without a key, and do not store its token', async () => {
    const service = await started({ apiKeys: ['secret-key'], monitorTokens: ['tok-1234567890abcdef'] })
    const ping = (path: string) => call(`${service.url}/heartbeat/${path}`, { headers: { 'x-api-key': '' } })
    expect((await ping('tok-1234567890abcdef')).status).toBe(200)
    expect((await ping('another')).status).toBe(404)
    for (const path of ['', '.', '..', 'a/b', '%2e', '%2E%2e', '%E0%A4%A'])
      expect((await ping(path)).status, path).toBe(404)
    const { items } = service.heartbeats()
    expect(items).toHaveLength(1)
    expect(items[0]?.monitor).toMatch(/^[0-9a-f]{12}$/)
    expect(JSON.stringify([items, service.requests, service.rejected()])).not.toMatch(/tok-12345|another/)
  })

  it('recognize a monitor by its token, percent-encoded or not', async () => {
    const service = await started({ monitorTokens: ['x==', 'a/b'] })
    for (const path of ['x%3D%3D', 'x==', 'x%3d=', 'a%2Fb'])
      expect((await call(`${service.url}/heartbeat/${path}`)).status, path).toBe(200)
    for (const path of ['x%253D%253D', 'a/b', 'a%252Fb'])
      expect((await call(`${service.url}/heartbeat/${path}`)).status, path).toBe(404)
    expect(new Set(service.heartbeats().items.map(({ monitor }) => monitor)).size).toBe(2)
  })
})

describe('the key', () => {
  it.each(['/ingest', '/ingest/requests', '/feedback', '/releases/register'])('is required for %s', async (path) => {
    const service = await started({ apiKeys: ['good-1', 'good-2'] })
    for (const key of ['', 'bad']) {
      const { status, json } = await call(`${service.url}${path}`, { body: {}, headers: { 'x-api-key': key } })
      expect([status, json]).toEqual([401, { detail: [{ msg: expect.any(String), type: 'auth_error' }] }])
    }
    expect((await call(`${service.url}${path}`, { body: {}, headers: { 'x-api-key': 'good-2' } })).status).toBe(422)
  })

  it('may be any text by default, and is not stored', async () => {
    const service = await started()
    expect((await ingest(service, [entryOf()], 'b', { 'x-api-key': 'any-thing-42' })).status).toBe(200)
    expect((await ingest(service, [entryOf()], 'b', { 'x-api-key': '' })).status).toBe(401)
    expect(JSON.stringify([service.requests, service.entries(), service.rejected()])).not.toContain('any-thing')
  })
})

describe('an invalid request', () => {
  it('gets 404, 405 with Allow, 415, 400', async () => {
    const service = await started()
    const url = `${service.url}/ingest`
    expect((await call(`${service.url}/nothing`)).status).toBe(404)
    expect((await call(`${service.origin}/nothing`)).status).toBe(404)
    const createWrongMethod = await call(url, { method: 'GET' })
    expect([createWrongMethod.status, createWrongMethod.headers.allow]).toEqual([405, 'POST'])
    expect((await call(url, { body: 'x', headers: { 'content-type': 'text/plain' } })).status).toBe(415)
    expect((await call(url, { body: '{}', headers: { 'content-encoding': 'br' } })).status).toBe(415)
    for (const body of ['', '{', 'NaN', Buffer.from([0x22, 0xff, 0x22])]) {
      const { status, json } = await call(url, { body })
      expect([status, json.detail[0].type]).toEqual([400, 'value_error.jsondecode'])
    }
    const charset = { 'content-type': 'Application/JSON; charset=utf-8' }
    expect((await call(url, { body: { logs: [] }, headers: charset })).status).toBe(200)
  })

  it('gets 413 for a body over the limit, declared or not, and keeps the connection', async () => {
    const service = await started({ maxBodyBytes: 10_000 })
    const body = JSON.stringify({ logs: [entryOf({ message: 'x'.repeat(2_000_000) })] })
    expect((await call(`${service.url}/ingest`, { body })).status).toBe(413)
    expect((await call(`${service.url}/ingest`, { body, headers: { 'transfer-encoding': 'chunked' } })).status).toBe(
      413,
    )
    expect((await call(`${service.url}/ingest`, { body, headers: { expect: '100-continue' } })).status).toBe(413)
    expect((await ingest(service, [entryOf()])).status).toBe(200)
    expect((await ingest(service, [entryOf()], 'b', { expect: '100-continue' })).status).toBe(200)
  })
})
