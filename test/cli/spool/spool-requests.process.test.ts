/** `pino-ingest spool` with request logs: listed separately from entries, and sent to their own endpoint. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Account } from '../../../src/diagnostics/account.js'
import { Batcher } from '../../../src/pipeline/batcher.js'
import { systemClock } from '../../../src/shared/clock.js'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { RequestLog } from '../../../src/protocol/resources.js'
import type { IngestService } from '../../../src/service/index.js'
import { toDeadLetterLine } from '../../../src/spool/dead-letter-file.js'
import { nameDestination } from '../../../src/spool/spool-root.js'
import { Spool } from '../../../src/spool/spool.js'
import { httpServer } from '../../client/http-servers.js'
import { entryOf, requestLog, started } from '../../service/support.js'
import { runCli } from '../run-cli.js'

const KEY = 'spool-key-5f0e77a1'
const OTHER_KEY = 'spool-other-key-90d1'
const DOWN = 'http://127.0.0.1:1/api/v1'
const REQUESTS = `${DOWN}/ingest/requests`
const MIB = 1024 * 1024

function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'pino-ingest-cli-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}

const entryAt = (n: number): LogEntry => entryOf({ message: `m${n}` })
const logAt = (n: number): RequestLog => ({ ...requestLog, path: `/n/${n}`, request_id: `id-${n}` })
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n)

/** Runs an application that ends normally while the service is down. */
function left(root: string, url: string, items: readonly object[], apiKey = KEY, service?: string): void {
  const kept = new Spool({
    dir: root,
    url,
    apiKey,
    service,
    maxBytes: 64 * MIB,
    maxAgeMs: 1e9,
    durability: 'process',
    clock: systemClock,
    account: new Account(),
    onFound: () => {},
    report: {
      problem: (message) => expect.unreachable(message),
      note: (kind, message) => expect.unreachable(`${kind}: ${message}`),
      dropped: (count, reason, detail) => expect.unreachable(`${count} ${reason} ${detail}`),
    },
  })
  const batcher = new Batcher({
    batch: { size: 100, intervalMs: 1e6 },
    clock: systemClock,
    log: kept.log,
    onBatch: () => {},
  })
  for (const item of items) batcher.add(JSON.stringify(item), 1)
  batcher.seal()
  kept.close()
}

function letters(root: string, url: string, items: readonly object[], apiKey = KEY): void {
  const folder = join(root, nameDestination(url, apiKey), 'dead')
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'mk2x0c1p-9f3a1c000000-00000001.ndjson'),
    items
      .map((item, index) =>
        toDeadLetterLine(
          { batchId: 'b', index, status: 422, code: 'X', field: 'path', reason: 'bad', entry: JSON.stringify(item) },
          '2026-01-31T08:00:00.000Z',
        ),
      )
      .join(''),
  )
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

async function spool(root: string, args: readonly string[], env: Record<string, string> = {}): Promise<Ran> {
  const { code, stdout, stderr } = await runCli(['spool', ...args], {
    PINO_INGEST_SPOOL_DIR: root,
    PINO_INGEST_URL: DOWN,
    PINO_INGEST_API_KEY: KEY,
    ...env,
  })
  return { code, out: stdout.toString(), err: stderr }
}

const to = (url: string): Record<string, string> => ({ PINO_INGEST_URL: url, PINO_INGEST_API_KEY: KEY })

function arrived(service: IngestService): { entries: string[]; requests: string[] } {
  return {
    entries: service
      .entries({ limit: Infinity })
      .items.map(({ entry }) => entry.message)
      .toSorted(),
    requests: service
      .requestLogs({ limit: Infinity })
      .items.map(({ request }) => request.path)
      .toSorted(),
  }
}

describe('with both on disk', () => {
  function both(): string {
    const root = newRoot()
    left(root, DOWN, upTo(130).map(entryAt))
    left(root, REQUESTS, upTo(250).map(logAt))
    return root
  }

  test('ls distinguishes them by the current url and key', async () => {
    const root = both()
    const { code, out } = await spool(root, ['ls'])
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(
        `^${DOWN} .*ID ${nameDestination(DOWN, KEY)} {2}the current destination\\n.* 2 batches +130 entries`,
        'm',
      ),
    )
    expect(out).toMatch(
      new RegExp(
        `^${REQUESTS} .*ID ${nameDestination(REQUESTS, KEY)} {2}the current destination, request logs\\n.* 3 batches +250 request logs`,
        'm',
      ),
    )
    expect(out).toMatch(/^Total: 2 instances, [\d.]+ KiB, 130 entries and 250 request logs waiting, 0 dead letters$/m)
    const data = JSON.parse((await spool(root, ['ls', '--json'])).out) as {
      destinations: { name: string; kind: string; isPresent: boolean }[]
      total: object
    }
    expect(data.destinations.map(({ name, kind, isPresent }) => [name, kind, isPresent]).toSorted()).toEqual(
      [
        [nameDestination(DOWN, KEY), 'entries', true],
        [nameDestination(REQUESTS, KEY), 'requests', true],
      ].toSorted(),
    )
    expect(data.total).toMatchObject({ entries: 130, requestLogs: 250 })
  })

  test('ls names URL, service and ID', async () => {
    const root = newRoot()
    left(root, DOWN, [entryAt(1)], KEY, 'checkout')
    left(root, REQUESTS, [logAt(1)], OTHER_KEY, 'worker \u001b[31m')
    left(root, REQUESTS, [logAt(1)])
    const [own = '', other = '', old = ''] = [
      nameDestination(DOWN, KEY),
      nameDestination(REQUESTS, OTHER_KEY),
      nameDestination(REQUESTS, KEY),
    ]
    rmSync(join(root, old, 'destination'))
    const { out } = await spool(root, ['ls'])
    expect(out).toContain(`\n${DOWN}  service checkout  ID ${own}  the current destination\n`)
    expect(out).toContain(`\n${REQUESTS}  service worker \\u001b[31m  ID ${other}, request logs\n`)
    expect(out).toContain(`  ID ${old}  the current destination, request logs\n`)
    const json = (await spool(root, ['ls', '--json'])).out
    expect((JSON.parse(json) as { destinations: object[] }).destinations).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: own, url: DOWN, service: 'checkout' }),
        expect.objectContaining({ name: old, url: null, service: null }),
      ]),
    )
    for (const key of [KEY, OTHER_KEY]) expect(out + json).not.toContain(key)
  })

  test('show prints a line for each', async () => {
    const { code, out } = await spool(both(), ['show', nameDestination(REQUESTS, KEY), '--limit', '2'])
    expect(out).toContain(
      '  2026-01-31T08:00:00Z     200   GET /n/0 1.5 ms\n  2026-01-31T08:00:00Z     200   GET /n/1 1.5 ms\n',
    )
    expect(code).toBe(0)
  })

  test('replay sends each to its own endpoint', async () => {
    const root = both()
    const service = await started({ apiKeys: [KEY] })
    const { code, out } = await spool(root, ['replay', '--all'], to(service.url))
    expect(out).toBe(
      'Sent 130 entries: 130 accepted, 0 rejected. Kept on disk: 0 entries.\nSent 250 request logs: 250 accepted, 0 rejected. Kept on disk: 0 request logs.\n',
    )
    expect(code).toBe(0)
    expect(arrived(service)).toEqual({
      entries: upTo(130)
        .map((n) => `m${n}`)
        .toSorted(),
      requests: upTo(250)
        .map((n) => `/n/${n}`)
        .toSorted(),
    })
    expect(service.requests.map(({ endpoint, status }) => `${endpoint} ${status}`).toSorted()).toEqual([
      'ingest 200',
      'ingest 200',
      'requests 200',
      'requests 200',
      'requests 200',
    ])
  })

  test('of another URL and key are detected', async () => {
    const root = newRoot()
    left(root, 'http://127.0.0.1:2/api/v1', [entryAt(1)], OTHER_KEY)
    left(root, 'http://127.0.0.1:2/api/v1/ingest/requests', [logAt(1), logAt(2)], OTHER_KEY)
    expect((await spool(root, ['ls'])).out.match(/ID \w+, request logs$/gm)).toHaveLength(1)
    const service = await started({ apiKeys: [KEY] })
    const { code, out } = await spool(root, ['replay', '--all', '--json'], to(service.url))
    expect(JSON.parse(out)).toMatchObject({
      sent: 3,
      accepted: 3,
      rejected: 0,
      kept: 0,
      requestLogs: { sent: 2, accepted: 2, rejected: 0, kept: 0 },
    })
    expect(code).toBe(0)
    expect(arrived(service)).toEqual({ entries: ['m1'], requests: ['/n/1', '/n/2'] })
  })

  test('if the service accepts only entries, request logs stay on disk', async () => {
    const root = both()
    const server = await httpServer((response, { url, body }) => {
      const isIngest = url === '/api/v1/ingest'
      const accepted = isIngest ? (JSON.parse(body) as { logs: unknown[] }).logs.length : 0
      response
        .writeHead(isIngest ? 200 : 404)
        .end(isIngest ? JSON.stringify({ accepted, rejected: 0, message: '', errors: [] }) : '')
    })
    const { code, out } = await spool(root, ['replay', '--all'], to(`${server.origin}/api/v1`))
    expect(out).toMatch(
      /^Sent 130 entries: 130 accepted, 0 rejected\. Kept on disk: 0 entries\.\nSent \d+ request logs: 0 accepted, 0 rejected\. Kept on disk: 250 request logs\.\nLast failure: status 404/,
    )
    expect(code).toBe(1)
    expect(server.came.filter(({ url }) => url === '/api/v1/ingest/requests').length).toBeLessThan(7)
  })

  test('rejected request logs become dead letters, and are replayed to their own endpoint', async () => {
    const root = newRoot()
    left(
      root,
      REQUESTS,
      upTo(20).map((n) => (n === 7 ? { ...logAt(n), path: 7 } : logAt(n))),
    )
    const service = await started({ apiKeys: [KEY] })
    expect(await spool(root, ['replay', nameDestination(REQUESTS, KEY)], to(service.url))).toMatchObject({
      code: 1,
      out: expect.stringContaining('Sent 20 request logs: 19 accepted, 1 rejected.'),
    })
    expect((await spool(root, ['show', 'dead'])).out).toMatch(
      /200 +GET - 1\.5 ms\n {2}-> 422 type_error\.str, path: str type expected/,
    )
    const [dead] = readdirSync(join(root, nameDestination(REQUESTS, KEY), 'dead'))
    expect(dead).toBeDefined()
    letters(root, DOWN, [entryAt(1)])
    expect((await spool(root, ['replay', 'dead'], to(service.url))).out).toContain(
      'Sent 1 entry: 1 accepted, 0 rejected. Kept on disk: 0 entries.\nSent 1 request log: 0 accepted, 1 rejected. Kept on disk: 0 request logs.\n',
    )
    expect(arrived(service).entries).toEqual(['m1'])
    expect(arrived(service).requests).toHaveLength(19)
  })

  test('a Retry-After of one endpoint applies to the other', async () => {
    const root = newRoot()
    left(root, DOWN, [entryAt(1)])
    left(root, REQUESTS, upTo(500).map(logAt))
    const at: { url: string; ms: number }[] = []
    let isFirst = true
    const server = await httpServer((response, { url, body }) => {
      at.push({ url, ms: performance.now() })
      if (isFirst) {
        isFirst = false
        response.writeHead(429, { 'retry-after': '1' }).end()
        return
      }
      const accepted = Object.values(JSON.parse(body) as Record<string, unknown[]>).at(-1)?.length ?? 0
      response.end(JSON.stringify({ accepted, rejected: 0, message: '', errors: [] }))
    })
    expect(await spool(root, ['replay', '--all'], to(`${server.origin}/api/v1`))).toMatchObject({ code: 0 })
    const [first] = at
    // One request to the other endpoint was already in flight.
    const early = at.slice(1).filter(({ ms }) => ms - (first?.ms ?? 0) < 990)
    expect(early.length).toBeLessThanOrEqual(1)
    expect(early.every(({ url }) => url !== first?.url)).toBe(true)
  })

  test('purge lists both kinds', async () => {
    const root = both()
    const { code, out } = await spool(root, ['purge', '--all'])
    expect(out).toMatch(/closed, 250 request logs waiting/)
    expect(out).toMatch(/Add --yes to delete 2 instances with 130 entries and 250 request logs waiting/)
    expect(code).toBe(2)
    expect(await spool(root, ['purge', nameDestination(REQUESTS, KEY), '--yes'])).toMatchObject({ code: 0 })
    expect(JSON.parse((await spool(root, ['ls', '--json'])).out)).toMatchObject({
      total: { entries: 130, requestLogs: 0 },
    })
  })
})
