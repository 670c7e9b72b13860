import { describe, expect, it } from 'vitest'
import type { Fault } from '../../../src/service/index.js'
import { Faults } from '../../../src/service/ingest/faults.js'
import { durationMs, entryOf, ingest, local, started, until } from '../support.js'

const numbered = (count: number): unknown[] => Array.from({ length: count }, (_, i) => entryOf({ message: `m${i}` }))

describe('a status', () => {
  it('is returned the given number of times, with body and Retry-After, and stores nothing', async () => {
    const service = await started()
    service.faults.add({ kind: 'status', status: 503, retryAfter: 2, times: 2 })
    service.faults.add({
      kind: 'status',
      status: 429,
      retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT',
      body: { a: 1 },
      times: 1,
    })
    const answers = [
      await ingest(service, numbered(3)),
      await ingest(service, []),
      await ingest(service, []),
      await ingest(service, []),
    ]
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 429, 200])
    expect(answers.map(({ headers }) => headers['retry-after'])).toEqual([
      '2',
      '2',
      'Wed, 21 Oct 2026 07:28:00 GMT',
      undefined,
    ])
    expect(answers[2]?.json).toEqual({ a: 1 })
    expect(service.counts().total).toBe(0)
    expect(service.requests[0]).toMatchObject({
      fault: 'status',
      status: 503,
      batchId: 'batch-1',
      entries: 3,
      accepted: 0,
    })
  })

  it('can be a 200 without an ingest result or without a body', async () => {
    const service = await started()
    service.faults.add({ kind: 'status', status: 200, body: '<html>', times: 1 })
    for (const status of [204, 205]) service.faults.add({ kind: 'status', status, times: 1 })
    const [page, empty, reset] = [await ingest(service, []), await ingest(service, []), await ingest(service, [])]
    expect([page.status, page.text, page.headers['content-type']]).toEqual([200, '<html>', 'text/plain; charset=utf-8'])
    expect([empty.status, empty.text, reset.status, reset.text]).toEqual([204, '', 205, ''])
  })
})

describe('scope', () => {
  it('is one endpoint, a number of requests, a time', () => {
    let nowMs = 0
    const faults = new Faults(() => nowMs)
    faults.add({ kind: 'hang', endpoint: 'feedback' })
    faults.add({ kind: 'status', status: 503, forMs: 6000 })
    faults.add({ kind: 'drop-reply', times: 1 })
    const kind = (): string | undefined => faults.take('ingest')?.fault.kind
    expect([kind(), kind(), faults.take('feedback')?.fault.kind]).toEqual(['status', 'status', 'hang'])
    nowMs = 5999
    expect(kind()).toBe('status')
    nowMs = 6000
    expect([kind(), kind()]).toEqual(['drop-reply', undefined])
    expect(faults.list()).toEqual([{ fault: { kind: 'hang', endpoint: 'feedback' }, hits: 1 }])
  })
})

describe('on the wire', () => {
  it('hang: no reply and nothing stored until the client disconnects', async () => {
    const service = await started()
    service.faults.add({ kind: 'hang', times: 1 })
    const abort = new AbortController()
    const hanging = fetch(`${service.url}/ingest`, {
      method: 'POST',
      body: JSON.stringify({ batch_id: 'h', logs: numbered(1) }),
      signal: abort.signal,
      headers: { 'content-type': 'application/json', 'x-api-key': 'k' },
    })
    await until(() => service.requests[0]?.batchId === 'h')
    expect((await ingest(service, numbered(1))).status).toBe(200)
    expect(service.requests[0]).toMatchObject({ status: null, endedAt: null, fault: 'hang' })
    abort.abort()
    await expect(hanging).rejects.toThrow()
    await until(() => service.requests[0]?.endedAt !== null)
    expect(service.counts().total).toBe(1)
  })

  it('reset and drop-reply: the connection is reset; only mid-reply and drop-reply store the request', async () => {
    const service = await started()
    const faults: [Fault, number][] = [
      [{ kind: 'reset', when: 'before-body', times: 1 }, 0],
      [{ kind: 'reset', when: 'mid-body', times: 1 }, 0],
      [{ kind: 'reset', when: 'mid-reply', times: 1 }, 2],
      [{ kind: 'drop-reply', times: 1 }, 2],
    ]
    for (const [fault, stored] of faults) {
      service.reset()
      service.faults.add(fault)
      await expect(ingest(service, numbered(2)), JSON.stringify(fault)).rejects.toMatchObject({ code: 'ECONNRESET' })
      expect(service.counts().total, JSON.stringify(fault)).toBe(stored)
      expect(service.requests[0]?.accepted).toBe(stored)
      expect((await ingest(service, [])).status).toBe(200)
    }
  })

  it('redirect: the status and the location', async () => {
    const service = await started()
    service.faults.add({ kind: 'redirect', location: 'http://127.0.0.1:1/x', times: 1 })
    service.faults.add({ kind: 'redirect', location: '/y', status: 301, times: 1 })
    const [first, second] = [await ingest(service, []), await ingest(service, [])]
    expect([first.status, first.headers.location, second.status, second.headers.location]).toEqual([
      307,
      'http://127.0.0.1:1/x',
      301,
      '/y',
    ])
  })

  it('slow and delay: the complete reply, later', async () => {
    const service = await started()
    service.faults.add({ kind: 'slow', bytesPerSecond: 1000, times: 1 })
    service.faults.add({ kind: 'delay', delayMs: 80, times: 1 })
    service.faults.add({ kind: 'status', status: 503, delayMs: 80, times: 1 })
    expect((await ingest(service, numbered(1))).json.accepted).toBe(1)
    expect((await ingest(service, numbered(1))).json.accepted).toBe(1)
    expect((await ingest(service, numbered(1))).status).toBe(503)
    await until(() => service.requests.every(({ endedAt }) => endedAt !== null))
    for (const one of service.requests) expect(durationMs(one)).toBeGreaterThan(55)
  })
})

describe('reject', () => {
  it('every n-th entry across requests, with the same result for an entry that is sent again', async () => {
    const service = await started()
    service.faults.add({ kind: 'reject-every', nth: 4 })
    const logs = numbered(10)
    const first = await ingest(service, logs.slice(0, 6))
    const again = await ingest(service, logs.slice(0, 6))
    const rest = await ingest(service, logs.slice(6))
    const indices = ({ json }: typeof first): number[] => json.errors.map(({ index }: { index: number }) => index)
    expect([first, again, rest].map(indices)).toEqual([[3], [3], [1]])
    expect(first).toMatchObject({
      status: 422,
      json: { accepted: 5, rejected: 1, errors: [{ code: 'VALIDATION_ERROR' }] },
    })
  })

  it('the whole batch in the framework format, or without naming an entry', async () => {
    const service = await started()
    const remove = service.faults.add({ kind: 'reject-containing', text: 'm1', form: 'framework' })
    const framework = await ingest(service, numbered(3))
    expect([framework.status, framework.json.detail.map(({ loc }: { loc: unknown[] }) => loc.slice(0, 3))]).toEqual([
      422,
      [['body', 'logs', 1]],
    ])
    remove()
    service.faults.add({ kind: 'reject-containing', text: 'm1', form: 'nameless' })
    const nameless = await ingest(service, numbered(3))
    expect([nameless.status, nameless.text.includes('1')]).toEqual([400, false])
    expect(service.counts().total).toBe(0)
    expect((await ingest(service, numbered(1))).json.accepted).toBe(1)
  })
})

describe('over HTTP', () => {
  it('is added, listed with its hits, and cleared', async () => {
    const service = await started()
    const added = await local(service, 'faults', { method: 'POST', body: { kind: 'status', status: 503, times: 5 } })
    expect(added.status).toBe(200)
    await ingest(service, [])
    expect((await local(service, 'faults')).json.items).toEqual([
      { fault: { kind: 'status', status: 503, times: 5 }, hits: 1 },
    ])
    await local(service, 'faults', { method: 'DELETE' })
    expect((await ingest(service, [])).status).toBe(200)
  })

  it.each<[unknown, RegExp]>([
    [{ kind: 'explode' }, /kind must be one of status, .* got "explode"/],
    [{ kind: 'status' }, /status must be set/],
    [{ kind: 'status', status: 99 }, /status must be an integer from 200 to 599, got 99/],
    [{ kind: 'status', status: 503, retryAfter: 'a\r\nb: c' }, /retryAfter/],
    [{ kind: 'hang', times: 0 }, /times must be an integer from 1, got 0/],
    [{ kind: 'hang', endpoint: 'x' }, /endpoint must be one of ingest, /],
    [{ kind: 'hang', status: 1 }, /hang has no field status/],
    [[], /a fault must be an object/],
  ])('%j is refused', async (body, message) => {
    const service = await started()
    const { status, json } = await local(service, 'faults', { method: 'POST', body })
    expect([status, json.detail[0].type]).toEqual([400, 'FAULT'])
    expect(json.detail[0].msg).toMatch(message)
    expect(service.faults.list()).toEqual([])
  })
})
