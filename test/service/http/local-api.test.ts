/** The JSON API below `/local/`: paths, parameters, and the same results as the methods. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { RequestLog } from '../../../src/protocol/resources.js'
import type { RouteStats } from '../../../src/service/query/api-types.js'
import { backgroundClock } from '../../../src/shared/clock.js'
import { VERSION } from '../../../src/version.js'
import { call, entryOf, ingest, local, requestLog, started } from '../support.js'

describe('queries over HTTP', () => {
  it('are the same as in-process', async () => {
    const service = await started()
    await ingest(service, [
      entryOf({ service: 'a', level: 'warn', tags: ['x'], trace: { trace_id: 't' } }),
      entryOf({ message: 'Second & last', level: 'error' }),
    ])
    await call(`${service.url}/ingest/requests`, { body: { requests: [requestLog] } })
    await call(`${service.url}/feedback`, { body: { event_id: 'e', comments: 'c' } })
    await call(`${service.url}/releases/register`, { body: { version: '1' } })
    await call(`${service.url}/heartbeat/token-7`)
    await call(`${service.url}/ingest`, { body: { batch_id: 'bad', logs: [1] } })
    const get = async (path: string) => (await local(service, path)).json
    expect(await get('entries')).toEqual(service.entries())
    expect((await get('entries?level=warn,fatal&service=a&tag=x&trace_id=t')).items).toHaveLength(1)
    expect((await get('entries?q=second%20%26')).items).toHaveLength(1)
    const page = await get('entries?limit=1')
    expect((await get(`entries?limit=1&cursor=${page.next}`)).items).toEqual([service.entries().items[1]])
    expect(await get('counts?level=error')).toMatchObject({ error: 1, total: 1 })
    expect(await get(`entries/${page.items[0].id}`)).toEqual(service.entry(page.items[0].id))
    expect((await get('requests')).items).toEqual(service.requests)
    expect(await get('request-logs')).toEqual(service.requestLogs())
    expect(await get('feedback')).toEqual(service.feedback())
    expect(await get('releases')).toEqual(service.releases())
    expect(await get('heartbeats')).toEqual(service.heartbeats())
    expect((await get('rejected')).items).toMatchObject([
      {
        batch_id: 'bad',
        status: 422,
        reasons: [{ loc: ['logs', 0], message: 'value is not a valid dict', value: '1' }],
      },
    ])
  })

  it('return summaries and statistics', async () => {
    const service = await started()
    const fields = {
      environment: 'test',
      error: { type: 'RangeError', message: 'no', stack: 'RangeError: no\n    at f (/app/a.js:1:1)' },
    }
    await ingest(service, [
      entryOf({ message: 'm', level: 'error', service: 'shop', metadata: { long: 'x' }, ...fields }),
    ])
    await call(`${service.url}/ingest/requests`, { body: { requests: [{ ...requestLog, route: '/orders/:id' }] } })
    await call(`${service.url}/heartbeat/token-7`)
    const get = async (path: string) => (await local(service, path)).json
    const {
      items: [summary],
    } = await get('entries?view=summary')
    expect(summary).toMatchObject({
      level: 'error',
      message: 'm',
      service: 'shop',
      error: { type: 'RangeError', message: 'no' },
    })
    expect([summary.metadata, summary.entry]).toEqual([undefined, undefined])
    const histogram = await get('histogram?buckets=10&service=shop')
    expect(histogram.buckets.reduce((sum: number, { error }: { error: number }) => sum + error, 0)).toBe(1)
    expect(await get('chart?buckets=10&service=shop&chart=count%20by%20level')).toMatchObject({
      step_ms: histogram.step_ms,
      groups: [{ name: 'error', count: 1, value: 1 }],
      others: null,
    })
    expect(await get('values?field=service')).toEqual({ items: [{ value: 'shop', count: 1 }], more: false })
    expect((await get('values?field=service&prefix=w')).items).toEqual([])
    expect((await get('values?field=method&kind=requests&q=status:*')).items).toEqual([{ value: 'GET', count: 1 }])
    expect((await get('fields')).items).toContainEqual({ name: 'service', type: 'text', count: 1, values: ['shop'] })
    expect((await get('fields?kind=requests')).items).toContainEqual({ name: 'status', type: 'number', count: 1 })
    const {
      items: [group],
    } = await get('error-groups')
    expect(group).toMatchObject({ type: 'RangeError', count: 1, newest: summary.id })
    expect((await get('error-groups?sort=count&limit=1')).items).toEqual([group])
    expect((await get(`entries?fingerprint=${encodeURIComponent(group.fingerprint)}`)).items).toHaveLength(1)
    expect((await get('routes')).items).toMatchObject([{ method: 'GET', route: '/orders/:id', count: 1, p50_ms: 1.5 }])
    await call(`${service.url}/ingest/requests`, {
      body: {
        requests: [
          { ...requestLog, service: 'a' },
          { ...requestLog, service: 'b', status_code: 500 },
        ],
      },
    })
    const routes = (await get('routes')).items.filter(({ route }: RouteStats) => route !== '/orders/:id')
    expect(routes).toMatchObject([
      { service: 'a', count: 1, errors: 0 },
      { service: 'b', count: 1, errors: 1 },
    ])
    expect((await get('monitors')).items).toMatchObject([{ name: null, pings: 1, interval_ms: null }])
    for (const name of ['old', 'N%C3%A4chte', '%E0', 'of%20token-7', 'of%20%2574oken-7', 'x'.repeat(2_000)])
      expect((await call(`${service.url}/heartbeat/token-7`, { headers: { 'x-monitor-name': name } })).status).toBe(200)
    expect((await get('monitors')).items).toMatchObject([{ name: 'Nächte', pings: 7 }])
  })

  it('return traces, contexts, versions and comparisons', async () => {
    const service = await started()
    const trace = { trace_id: 'a/b c', span_id: 's' }
    await ingest(service, [
      entryOf({ trace, service: 'shop', version: '1', metadata: { pid: 1, order: { id: 7 } } }),
      entryOf({ version: '2', timestamp: '2026-01-31T07:00:00.000Z' }),
    ])
    const times = ['2026-01-31T08:00:00Z', '2026-01-31T09:00:00Z']
    const requests = times.map((timestamp, n) => ({ ...requestLog, duration_ms: 9 - n, timestamp }))
    await call(`${service.url}/ingest/requests`, { body: { requests } })
    const get = async (path: string) => (await local(service, path)).json
    const columns = encodeURIComponent('service,metadata.order.id')
    const { items, last_seq } = await get(`entries?view=summary&columns=${columns}`)
    expect(items[0]).toMatchObject({
      details: { 'order.id': 7 },
      columns: { service: 'shop', 'metadata.order.id': '7' },
      span_id: 's',
    })
    expect(last_seq).toBe(4)
    const context = await get(`entries/${items[0].id}/context?limit=2&columns=${columns}`)
    expect(context).toMatchObject({ items: [{ id: items[0].id }, { id: items[1].id }], newer: null, older: null })
    expect((await get('runs')).items).toMatchObject([{ run: 'shop-1@', entries: 1, is_restart: false }])
    expect((await get('traces')).items).toMatchObject([{ trace_id: 'a/b c', entries: 1 }])
    expect(await get(`traces/${encodeURIComponent('a/b c')}`)).toMatchObject({ spans: [{ span_id: 's' }] })
    expect((await get('versions')).items.map(({ version }: { version: string }) => version)).toEqual(['1', '2'])
    expect(await get('release-comparison?before=version:2&after=run:shop-1@')).toMatchObject({
      before: { query: 'version:2', entries: 1 },
      after: { query: 'run:shop-1@', entries: 1 },
    })
    expect(await get('timeline?q=run:shop-1@')).toMatchObject({ spans: [{ span_id: 's' }] })
    expect((await local(service, 'timeline?q=none')).status).toBe(404)
    const durations = async (query: string) =>
      (await get(`request-logs?${query}`)).items.map(({ request }: { request: RequestLog }) => request.duration_ms)
    expect([await durations('sort=timestamp'), await durations('sort=duration')]).toEqual([
      [8, 9],
      [9, 8],
    ])
    expect(await get('request-logs?since=2026-01-31T08:30:00Z')).toEqual(
      service.requestLogs({ since: '2026-01-31T08:30:00Z' }),
    )
  })

  it("return the service's status", async () => {
    const startedAt = Date.UTC(2026, 0, 31)
    const service = await started({
      maxEntries: 7,
      maxAgeMs: 5000,
      clock: { ...backgroundClock, wallNow: () => startedAt },
    })
    await ingest(service, [entryOf(), entryOf()])
    expect((await local(service, 'status')).json).toEqual({
      version: VERSION,
      url: service.url,
      started_at: '2026-01-31T00:00:00.000Z',
      db_file: null,
      stored: { entry: 2, request: 0, feedback: 0, release: 0, heartbeat: 0, rejected: 0 },
      limits: { max_entries: 7, max_bytes: 192 << 20, max_age_ms: 5000 },
    })
  })

  it.each([
    'entries?level=loud',
    'entries?cursor=-',
    'entries?cursor=1-1&newer=1-1',
    'entries?columns=a',
    'entries/ent_1/context?q=a',
    'traces?cursor=1',
    'request-logs?sort=size',
    'versions?limit=1',
    'release-comparison?before=1',
    'release-comparison?before=1&after=(',
    'chart?chart=p100(duration)',
    'chart?chart=count&q=a%20|%20count',
    'values?field=status&kind=feedback',
    'routes?level=info',
    'runs?q=a',
    'stream?after=-1',
    'feedback?level=info',
  ])('%s is refused with a reason', async (path) => {
    const { status, json } = await local(await started(), path)
    expect([status, json.detail[0].type, json.detail[0].msg]).toEqual([400, 'QUERY', expect.stringMatching(/\w.{10}/)])
  })

  it.each<[string, number, number]>([
    ['entries?q=', 6, 4],
    ['stream?q=', 6, 4],
    ['request-logs?q=', 6, 4],
  ])('%s refuses a wrong query with its position', async (path, position, length) => {
    const { status, json } = await local(await started(), `${path}${encodeURIComponent('level:loud')}`)
    expect([status, json.detail]).toEqual([
      400,
      [{ msg: expect.stringContaining('level'), type: 'QUERY', position, length }],
    ])
  })

  it('return 404 and 405', async () => {
    const service = await started()
    for (const path of [
      '',
      'nope',
      'entries/',
      'entries/none',
      'entries/none/context',
      'entries//context',
      'entries/%E0%A4%A',
      'traces/none',
      'values/service',
      'constructor',
      'toString/x',
    ]) {
      expect((await local(service, path)).status, path).toBe(404)
    }
    const { status, headers } = await local(service, 'entries', { method: 'POST', body: {} })
    expect([status, headers.allow]).toEqual([405, 'GET'])
    expect((await local(service, 'reset')).headers.allow).toBe('POST')
    expect((await local(service, 'constructor', { method: 'constructor' })).status).toBe(400)
  })

  it('reply to HEAD like GET, without the body', async () => {
    const service = await started()
    await ingest(service, [entryOf()])
    for (const path of ['entries', 'status', 'stream']) {
      const { status, headers, text } = await local(service, path, { method: 'HEAD' })
      expect([status, text], path).toEqual([200, ''])
      expect(headers['content-type'], path).toBe(
        path === 'stream' ? 'text/event-stream; charset=utf-8' : 'application/json',
      )
    }
    expect((await local(service, 'nope', { method: 'HEAD' })).status).toBe(404)
  })

  describe('resolve positions', () => {
    const post = async (body: unknown, headers = {}) =>
      local(await started(), 'source-positions', { method: 'POST', body, headers })

    it('through the map of a file', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'pino-ingest-positions-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const map = Buffer.from('{"version":3,"sources":["../src/a.ts"],"names":["total"],"mappings":"AAMIA"}')
      const file = join(folder, 'a.js')
      writeFileSync(file, `a()//# sourceMappingURL=data:application/json;base64,${map.toString('base64')}`)
      const { status, json } = await post({ at: [`${file}:1:1`, '/nowhere.js:1:1'] })
      const original = { file: join(folder, '../src/a.ts'), line: 7, column: 5, name: 'total' }
      expect([status, json]).toEqual([200, { items: [original, null] }])
    })

    it('with lines, only of a file that the stack of a stored entry names', async () => {
      const service = await started()
      const file = fileURLToPath(import.meta.url)
      await ingest(service, [entryOf({ error: { stack: `Error\n    at f (${file}:1:1)` } }), entryOf()])
      const [other, named] = service.entries().items.map(({ id }) => id)
      for (const [entry, hasLines] of [
        [named, true],
        [other, false],
        [undefined, false],
      ] as const) {
        const body = { at: [`${file}:1:1`], entry }
        const { json } = await local(service, 'source-positions', { method: 'POST', body })
        expect((json['items'] as (object | null)[])[0] !== null).toBe(hasLines)
      }
    })

    it.each([
      ['no body', undefined],
      ['a text', { at: '/a.js:1:1' }],
      ['a place without a column', { at: ['/a.js:1'] }],
      ['101 places', { at: Array(101).fill('/a.js:1:1') }],
      ['a name of 5,000 characters', { at: [`/${'a'.repeat(5000)}.js:1:1`] }],
    ])('not of %s', async (_, body) => {
      const { status, json } = await post(body)
      expect([status, json.detail[0].type, json.detail[0].msg.length < 300]).toEqual([400, 'QUERY', true])
    })
  })

  it('reset deletes everything', async () => {
    const service = await started({ dedupeBatches: true })
    await ingest(service, [entryOf()])
    service.faults.add({ kind: 'hang', endpoint: 'feedback' })
    expect((await local(service, 'reset', { method: 'POST' })).status).toBe(200)
    expect([service.counts().total, service.requests.length, service.faults.list().length, service.arrived]).toEqual([
      0, 0, 0, 0,
    ])
    await ingest(service, [entryOf()])
    expect(service.counts().total).toBe(1)
  })
})

describe('the marks of docs/local-api.md', () => {
  const page = readFileSync(new URL('../../../docs/local-api.md', import.meta.url), 'utf8')
  const cells = [...page.matchAll(/^\| (`GET \/local\/[^|]+) \|/gm)].map(([, cell = '']) => cell)
  const marks = cells
    .flatMap((cell) => [...cell.matchAll(/`(?:GET )?\/local\/([\w/{}-]+)`(?: ([ER]))?/g)])
    .map(([, path = '', mark = '']) => [path, mark] as const)
    .filter(([path]) => path !== 'stream')

  it('are found', () => {
    expect(new Set(marks.map(([, mark]) => mark))).toEqual(new Set(['', 'E', 'R']))
  })

  it.each(marks)('%s accepts the filters of %j', async (path, mark) => {
    const service = await started()
    const isKnown = async (parameter: string): Promise<boolean> => {
      const { json } = await local(service, `${path.replace(/\{.*?\}/, 'x')}?${parameter}`)
      return json?.detail?.[0]?.msg.startsWith('parameter must be') !== true
    }
    const known = await Promise.all(['tag=x', 'service=x'].map(isKnown))
    expect(known).toEqual({ '': [false, false], E: [true, true], R: [false, true] }[mark as '' | 'E' | 'R'])
  })
})
