/** Converts a line to a breadcrumb, and attaches breadcrumbs to an entry. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import { attachBreadcrumbs } from '../../src/breadcrumbs/attach-breadcrumbs.js'
import { BreadcrumbFactory } from '../../src/breadcrumbs/breadcrumb-factory.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { Mapper } from '../../src/record/mapper.js'
import { BreadcrumbRows } from '../../src/breadcrumbs/breadcrumb-rows.js'
import type { BreadcrumbLine } from '../../src/breadcrumbs/breadcrumb-rows.js'
import { RowFlag } from '../../src/record/memory.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { RECEIVED_AT, anyLine, corpus, createMappingOptions, renamed, usualLine } from '../record/record-lines.js'
import { modelRuns } from '../model-runs.js'
import { mapLine } from '../record/map-line.js'
import { faults } from '../record/valid-entry.js'

const options = createMappingOptions()
const redacting = createMappingOptions({ redactor: new Redactor({ patterns: [], keys: ['token'] }) })

interface Maker {
  readonly mapper: Mapper
  readonly factory: BreadcrumbFactory
}

function makerFor(mapping: MappingOptions, now = 0, threshold = -1): Maker {
  const mapper = new Mapper(mapping, threshold, () => now)
  return { mapper, factory: new BreadcrumbFactory(mapping, mapper.lines, () => now) }
}

function mapped(text: string, { mapper }: Maker): BreadcrumbLine {
  const line = mapper.lines.place(text)
  const flags = mapper.map(line).isFreeOfSecrets ? RowFlag.FREE_OF_SECRETS : 0
  return { position: line.position, bytes: line.end - line.start, flags }
}

const usualMaker = makerFor(options)

function create(text: string, maker = usualMaker): string {
  return maker.factory.create(mapped(text, maker))
}

const MAX_BYTES = 4_096
const PLAIN = '{"level":50,"time":1763700000123,"msg":"plain"}'

function toBreadcrumb(record: object): unknown {
  return JSON.parse(create(JSON.stringify(record)))
}

const TIME = 1_763_700_000_123
const AT = '2025-11-21T04:40:00.123Z'
const base = { level: 20, time: TIME, pid: 1, hostname: 'h' }

/** A usual breadcrumb with other members. */
const crumb = (members: object): object => ({ type: 'log', category: 'log', level: 'debug', timestamp: AT, ...members })
const asked = { id: 1, method: 'GET', url: '/a?b=1', headers: { cookie: 'x' }, query: { b: 1 } }
const thrown = {
  type: 'TypeError',
  message: 'x is no function',
  stack: 'TypeError: x\n    at f (/app/a.js:1:2)',
  code: 'E1',
}

test.each([
  [
    { msg: 'm', key: 'a', nested: { b: [1] } },
    { message: 'm', data: { key: 'a', nested: { b: [1] } } },
  ],
  [{ msg: 'm', name: 'app', reqId: 'req-1', trace_id: 'abc', service: 's' }, { message: 'm' }],
  [
    { level: 30, module: 'db', msg: 'm', ms: 12 },
    { category: 'db', message: 'm', level: 'info', data: { ms: 12 } },
  ],
  [
    { req: asked, res: { statusCode: 404 }, responseTime: 3, msg: 'm' },
    {
      type: 'http',
      category: 'http',
      message: 'm',
      data: { method: 'GET', url: '/a?b=1', status_code: 404, duration_ms: 3 },
    },
  ],
  [
    { level: 50, err: thrown, msg: 'm' },
    {
      type: 'error',
      category: 'error',
      message: 'm',
      level: 'error',
      data: { error_type: 'TypeError', error_message: 'x is no function', error: { code: 'E1' } },
    },
  ],
  [
    { msg: 'm', action: 'checkout', duration_ms: 5 },
    { message: 'm', data: { action: 'checkout', perf: { duration_ms: 5 } } },
  ],
])('%j', (record, expected) => expect(toBreadcrumb({ ...base, ...record })).toEqual(crumb(expected)))

test('an integer that a double cannot hold is not a category', () => {
  const json = create('{"level":20,"time":0,"category":9007199254740993,"msg":"m"}')
  expect(json).toContain('"category":"log"')
  expect(json).toContain('"data":{"category":9007199254740993}')
})

test("a line that is not JSON becomes the breadcrumb's message", () => {
  expect(JSON.parse(create('plain text', makerFor(options, TIME)))).toMatchObject({
    message: 'plain text',
    level: 'info',
    timestamp: AT,
  })
})

test.each([
  ['header', { msg: 'sent', headers: { cookie: 'SECRET' }, note: 'Authorization: Bearer SECRET' }],
  ['parameter', { msg: 'GET /a?token=SECRET' }],
  ['query', { msg: 'm', query: { token: 'SECRET' } }],
  ['user info', { msg: 'https://a:SECRET@example.com' }],
  ['header, whose name is in a member that breadcrumbs do not have', { name: 'cookie', value: 'SECRET', msg: 'm' }],
])('redacts a secret in a line below the sent level: %s', (_, record) => {
  const text = JSON.stringify({ ...base, ...record })
  const maker = makerFor(redacting, TIME, 1)
  expect(mapLine(maker.mapper, text).json).toBe('')
  const breadcrumb = create(text, maker)
  expect(breadcrumb).not.toContain('SECRET')
  expect(JSON.parse(breadcrumb)).toEqual(JSON.parse(maker.factory.parse(text)))
})

test('a breadcrumb that redaction lengthens stays within the limit', () => {
  const json = create(JSON.stringify({ ...base, msg: 'token=a '.repeat(480) }), makerFor(redacting))
  expect(json).toContain('token=[scrubbed]')
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_BYTES)
})

test('shortens the breadcrumb of a long record', () => {
  const json = create(
    JSON.stringify({ ...base, msg: 'm'.repeat(100_000), more: Array.from({ length: 5_000 }, (_, i) => i) }),
  )
  expect(Buffer.byteLength(json)).toBeLessThanOrEqual(MAX_BYTES)
  expect(JSON.parse(json)).toMatchObject({ level: 'debug', timestamp: AT })
})

describe.each([
  ['its usual names', options, 59],
  [
    'other names of a request',
    createMappingOptions({ requestKeys: { req: 'q', res: 's', responseTime: 'took', reqId: 'rid' } }),
    44,
  ],
])('the kernel with %s', (_, mapping, taken) => {
  const maker = makerFor(mapping, Date.parse(RECEIVED_AT))
  const { lines, kernel } = maker.mapper
  const rows = new BreadcrumbRows({ ring: lines, threshold: -1, limit: 2, maxBytes: 1024 * 1024 })
  let questions = 0
  kernel?.connectBreadcrumbs((row) => {
    questions += 1
    return maker.factory.create(rows.read(row))
  })
  /** @returns whether the kernel takes the line; other lines are parsed */
  const judge = (text: string): boolean => {
    const wanted: unknown = JSON.parse(maker.factory.parse(text))
    const line = mapped(text, maker)
    expect(JSON.parse(maker.factory.create(line))).toEqual(wanted)
    // Appended to an entry by the kernel, which asks for those that it declines.
    questions = 0
    const record = mapLine(maker.mapper, PLAIN)
    for (let copy = 0; copy < 2; copy += 1) rows.add(record.scope, 1, line, lines.offsetOf(line.position))
    expect(kernel?.appendBreadcrumbs(record, lines.end)).toBe(true)
    const entry = JSON.parse(record.json) as LogEntry
    expect(entry).toMatchObject({ message: 'plain', breadcrumbs: [wanted, wanted] })
    return questions === 0
  }

  test('corpus', () => {
    expect(corpus.filter(({ raw }) => judge(renamed(raw, mapping)))).toHaveLength(taken)
  })

  test.each([
    '"error":{"type":"Error","message":"m","stack":"Error: m","code":"E"}',
    '"duration_ms":5,"user_id":"u","reqId":7',
    '"service":"s","version":"1","env":"e"',
    '"timestamp":"t","ecs":1,"module":"db"',
    '"name":"app","module":{"a":1}',
    '"name":"app","component":"db"',
  ])('takes {%s}', (members) => {
    const line = `{"level":30,"time":${TIME},"pid":1,${members},"msg":"m"}`
    expect([line, judge(line)]).toEqual([line, true])
  })

  test.each([
    '"level":50,"msg":"other"',
    '"time":1763700000124,"a":1',
    '"method":"x","req":{"method":"GET","url":"/"},"q":{"method":"GET","url":"/"}',
    '"error_type":"E","err":{"type":"Error","message":"a","stack":"Error: a"}',
    '"action":"a"',
    '"user":{"id":"u"}',
    '"tags":["a"]',
    '"module":"a","component":"b"',
    '"reqId":7,"req_id":8',
    '"module":7',
    '"service":null',
    '"name":true',
  ])('declines {%s}', (members) => {
    const line = `{"level":30,"time":${TIME},"pid":1,${members},"msg":"m"}`
    expect([line, judge(line)]).toEqual([line, false])
  })

  test('generated lines', () => {
    let compared = 0
    fc.assert(
      fc.property(fc.oneof(anyLine, usualLine), (line) => void (compared += Number(judge(renamed(line, mapping))))),
      { numRuns: modelRuns(200, 50_000) },
    )
    expect(compared).toBeGreaterThan(10)
  })
})

test('every breadcrumb matches the interface, for any line', () => {
  const maker = makerFor(options, TIME)
  fc.assert(
    fc.property(anyLine, (line) => {
      const entry = attachBreadcrumbs(
        `{"level":"error","message":"m","timestamp":"${AT}"}`,
        [create(line, maker)],
        false,
        { limit: 50, maxEntryBytes: 262_144 },
      )
      expect(faults(entry, 262_144)).toEqual([])
    }),
    { numRuns: modelRuns(100, 20_000) },
  )
})

describe('attached', () => {
  const breadcrumb = (message: string, ms = 0): string =>
    JSON.stringify({ message, timestamp: new Date(TIME + ms).toISOString() })
  const entry = { level: 'error', message: 'm', timestamp: AT, metadata: { a: 1 } }
  const attach = (
    given: object,
    breadcrumbs: string[],
    maxEntryBytes = 262_144,
  ): { breadcrumbs?: { message: string }[] } & Record<string, unknown> => {
    const json = attachBreadcrumbs(JSON.stringify(given), breadcrumbs, 'breadcrumbs' in given, {
      limit: 3,
      maxEntryBytes,
    })
    expect(Buffer.byteLength(json)).toBeLessThanOrEqual(maxEntryBytes)
    expect(faults(json, maxEntryBytes)).toEqual([])
    return JSON.parse(json) as never
  }

  test('an empty list changes nothing', () => expect(attach(entry, [])).toEqual(entry))

  test('the last ones up to the limit, in order', () => {
    const { breadcrumbs, ...rest } = attach(
      entry,
      ['1', '2', '3', '4'].map((text) => breadcrumb(text)),
    )
    expect(breadcrumbs?.map(({ message }) => message)).toEqual(['2', '3', '4'])
    expect(rest).toEqual(entry)
  })

  test("merged by time with the entry's own, which are all kept", () => {
    const own = ['b', 'd', 'f', 'h'].map((message, index) => ({
      message,
      timestamp: new Date(TIME + 10 + 20 * index).toISOString(),
    }))
    const { breadcrumbs } = attach({ ...entry, breadcrumbs: [...own, { message: 'timeless' }] }, [
      breadcrumb('a', 0),
      breadcrumb('c', 20),
      breadcrumb('e', 40),
    ])
    expect(breadcrumbs?.map(({ message }) => message)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'h', 'timeless'])
  })

  test('the newest ones that fit', () => {
    const { breadcrumbs } = attach(
      { ...entry, message: 'm'.repeat(600) },
      ['1', '2', '3'].map((text) => breadcrumb(text.repeat(150))),
      1_024,
    )
    expect(breadcrumbs?.map(({ message }) => message[0])).toEqual(['3'])
  })

  test('an entry at its size limit is shortened to leave a quarter for breadcrumbs', () => {
    const { breadcrumbs, message } = attach(
      { ...entry, message: 'm'.repeat(9_800) },
      ['1', '2', '3'].map((text) => breadcrumb(text.repeat(600))),
      10_240,
    )
    expect(breadcrumbs).toHaveLength(3)
    expect((message as string).length).toBeGreaterThan(2_000)
  })
})
