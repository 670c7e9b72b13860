/** Reading entries as text gives the same result as parsing them. */
import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RequestKeys } from '../../src/options/settings.js'
import { Mapper } from '../../src/record/mapper.js'
import { RequestJoiner } from '../../src/request-logs/request-joiner.js'
import { createMetadataKeys, parseRequest } from '../../src/request-logs/request-log.js'
import type { LoggedRequest } from '../../src/request-logs/request-log.js'
import { RequestReader } from '../../src/request-logs/request-reader.js'
import { FakeClock } from '../fake-clock.js'
import { anyLine, corpus, createMappingOptions } from '../record/record-lines.js'
import { hostileLines } from '../record/hostile-lines.js'
import { modelRuns } from '../model-runs.js'
import { mapLine } from '../record/map-line.js'

const KEYS: RequestKeys = { req: 'req', res: 'res', responseTime: 'responseTime', reqId: 'reqId' }
/** Of `pino-http-keys`. */
const OTHER_KEYS: RequestKeys = { req: 'httpReq', res: 'httpRes', responseTime: 'timeTaken', reqId: 'reqId' }
const FOLDER = new URL('../record/frameworks/', import.meta.url)

/** Compares durations as numbers, independent of their notation. */
function comparable(seen: LoggedRequest | undefined): object | undefined {
  return seen && { ...seen, end: seen.end && { ...seen.end, duration: Number(seen.end.duration) } }
}

/** Compares the entries of these lines. @returns the number of requests, and how many were read as text */
function compare(lines: Iterable<string>, requestKeys = KEYS): { requests: number; read: number } {
  const clock = new FakeClock()
  const mapping = createMappingOptions({ service: 'api', environment: 'test', requestKeys })
  const mapper = new Mapper(mapping, -1, () => clock.wallNow())
  const joiner = new RequestJoiner({ clock, ...mapping })
  const reader = new RequestReader(requestKeys)
  const counts = { requests: 0, read: 0 }
  for (const line of lines) {
    const record = mapLine(mapper, line)
    if (record.requestPart !== 'none') joiner.join(record)
    const parsed = parseRequest(record.json, createMetadataKeys(requestKeys))
    if (!record.hasRequest) {
      expect(parsed).toBeUndefined()
      continue
    }
    counts.requests += 1
    const read = reader.readText(record.json)
    if (read === undefined) continue
    counts.read += 1
    expect(comparable(read)).toEqual(comparable(parsed))
  }
  return counts
}

test.each(readdirSync(FOLDER).filter((name) => name.endsWith('.ndjson')))('%s', (name) => {
  const keys = name.includes('-keys') ? OTHER_KEYS : KEYS
  const { requests, read } = compare(readFileSync(new URL(name, FOLDER), 'utf8').trim().split('\n'), keys)
  expect(requests).toBeGreaterThan(2)
  expect(read).toBeGreaterThanOrEqual(requests / 2)
})

test('the corpus, also with the route that ingestOptions() adds', () => {
  const lines = corpus.map(({ raw }) => raw)
  const { requests, read } = compare(lines)
  expect(read).toBeGreaterThan(requests / 2)
  compare(lines.map((line) => line.replace('{', '{"route":"/orders/:id",')))
})

describe('records of pino-http and Fastify are read as text', () => {
  const base = { level: 30, time: 1_795_378_168_481, pid: 7, hostname: 'web-1' }
  const req = { id: 1, method: 'GET', url: '/a?b=c', query: { b: 'c' }, headers: { 'user-agent': 'x' }, remotePort: 1 }
  const whole = { ...base, req, res: { statusCode: 200 }, responseTime: 3.5, msg: 'request completed' }
  const fastify = { ...base, reqId: 'req-1' }

  test.each<[string, readonly object[]]>([
    ['pino-http', [whole]],
    ['with a route', [{ ...whole, route: '/a' }]],
    ['with the route on the response', [{ ...whole, res: { statusCode: 404, route: '/a' } }]],
    ['with a catch-all route', [{ ...whole, route: '/*' }]],
    ['with another id', [{ ...whole, request_id: 'scope', reqId: 'own' }]],
    ['without a hostname', [{ ...whole, hostname: undefined }]],
    ['with a hostname elsewhere', [{ ...whole, hostname: undefined, child: { hostname: 'other' } }]],
    ['with user, tags and trace', [{ ...whole, user: { id: 'u' }, user_id: 'u', tags: ['a', 'b'], trace_id: 'f00' }]],
    ['with a message that needs escapes', [{ ...whole, msg: 'say "hi"\n{' }]],
    [
      'Fastify',
      [
        { ...fastify, req: { method: 'GET', url: '/a', host: 'h' }, msg: 'incoming request' },
        { ...fastify, res: { statusCode: 200 }, responseTime: 0.1234567890123456, msg: 'request completed' },
      ],
    ],
  ])('%s', (_, records) => {
    expect(compare(records.map((record) => JSON.stringify(record)))).toEqual({
      requests: records.length,
      read: records.length,
    })
  })
})

test('hostile and generated lines', () => {
  const finished = '{"req":{"method":"GET","url":"/x"},"res":{"statusCode":200},"responseTime":1,'
  const hostile = [...hostileLines(200, 11, { isLargeWanted: false })]
  const { requests, read } = compare([...hostile, ...hostile.map((line) => line.replace('{', finished))])
  expect(requests).toBeGreaterThan(100)
  expect(read).toBeGreaterThan(100)
  const line = anyLine.map((one) => one.replace('{', finished))
  fc.assert(
    fc.property(fc.array(fc.oneof(anyLine, line), { maxLength: 20 }), (lines) => void compare(lines)),
    { numRuns: modelRuns(10, 500) },
  )
})
