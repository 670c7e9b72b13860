/**
 * Lines written by real frameworks and loggers (`frameworks/*.ndjson`, recorded by `test/matrix`), through the
 * in-process stream to the local service: entries and request logs match the requests and the logged records.
 */
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingestStream } from '../../src/index.js'
import type { IngestOptions } from '../../src/index.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { RequestLog } from '../../src/protocol/resources.js'
import { createIngestService } from '../../src/service/index.js'
import type { IngestService } from '../../src/service/index.js'
import { SHOPS } from '../matrix/groups/frameworks.mjs'
import { compare } from '../matrix/kit/comparison.mjs'

const FOLDER = new URL('frameworks/', import.meta.url)
const asked = JSON.parse(readFileSync(new URL('asked.json', FOLDER), 'utf8')) as Record<
  string,
  Parameters<typeof compare>[1]
>
const NAMES = SHOPS.map(({ command }) => (command.at(-1) ?? '').split('.')[0] ?? '')

interface Arrived {
  readonly entries: readonly LogEntry[]
  readonly requestLogs: readonly RequestLog[]
}

let service: IngestService

beforeAll(async () => {
  service = await createIngestService()
})
afterAll(async () => service.close())

async function send(lines: string, options: IngestOptions = {}): Promise<Arrived> {
  service.reset()
  const stream = ingestStream({
    url: service.url,
    apiKey: 'any',
    spool: false,
    requestLogs: true,
    breadcrumbs: false,
    ...options,
  })
  stream.end(lines)
  await once(stream, 'close')
  return {
    entries: service
      .entries({ limit: 1000 })
      .items.toSorted((a, b) => a.seq - b.seq)
      .map(({ entry }) => entry),
    requestLogs: service
      .requestLogs({ limit: 1000 })
      .items.toSorted((a, b) => a.seq - b.seq)
      .map(({ request }) => request),
  }
}

const linesOf = (name: string): string => readFileSync(new URL(`${name}.ndjson`, FOLDER), 'utf8')
const OPTIONS: Readonly<Record<string, IngestOptions>> = {
  'fastify-label': { pino: { customAttributeKeys: { reqId: 'trackingId' } } },
  'pino-http-keys': { pino: { customAttributeKeys: { req: 'httpReq', res: 'httpRes', responseTime: 'timeTaken' } } },
}

describe.each(NAMES)('%s', (name) => {
  const facts = SHOPS[NAMES.indexOf(name)]?.facts('pipe')

  test('matches the requests and the logged records', async () => {
    const lines = linesOf(name)
    const arrived = await send(lines, OPTIONS[name])
    expect(arrived.entries).toHaveLength(lines.trimEnd().split('\n').length)
    expect(Object.values(compare(arrived, asked[name] as never, facts as never)).flat()).toEqual([])
  })
})

test('converts a duration in ns or as text in seconds to milliseconds', async () => {
  const { requestLogs } = await send(linesOf('ecs'))
  const { requestLogs: others } = await send(linesOf('gcp'))
  const read = (name: string, pattern: RegExp): number[] =>
    [...linesOf(name).matchAll(pattern)].map(([, digits]) => Number(digits))
  const near = (log: RequestLog): unknown => expect.closeTo(log.duration_ms, 6)
  expect(read('ecs', /"event\.duration":(\d+)/g).map((ns) => ns / 1e6)).toEqual(requestLogs.map(near))
  expect(read('gcp', /"latency":"([\d.]+)s"/g).map((seconds) => seconds * 1000)).toEqual(others.map(near))
  expect([...requestLogs, ...others]).toHaveLength(6)
})

test('a threshold keeps the errors', async () => {
  for (const name of NAMES) {
    const { entries } = await send(linesOf(name), { ...OPTIONS[name], sendLevel: 'error' })
    expect(
      entries.map(({ level }) => level),
      name,
    ).toEqual(expect.arrayContaining(['error']))
    expect(
      entries.every(({ level }) => level === 'error'),
      name,
    ).toBe(true)
  }
})
