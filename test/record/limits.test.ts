/** Limits of depth, width, bytes and digits, and linear time in the length of the line. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { Mapper } from '../../src/record/mapper.js'
import { mapByParsing } from '../../src/record/reference/reference-path.js'
import { RECEIVED_AT, anyLine, corpus, createMappingOptions } from './record-lines.js'
import { faults } from './valid-entry.js'
import { modelRuns } from '../model-runs.js'
import { jsonWith as jsonOf, mapLine } from './map-line.js'

function entryOf(line: string, over: Partial<MappingOptions> = {}): LogEntry {
  return JSON.parse(jsonOf(line, over)) as LogEntry
}

const HEAD = '"level":30,"time":1795219732486'

/** Nested containers. */
function depthOf(root: unknown): number {
  let deepest = 0
  const open: [unknown, number][] = [[root, 1]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (typeof value !== 'object' || value === null) continue
    deepest = Math.max(deepest, depth)
    for (const inner of Object.values(value)) open.push([inner, depth + 1])
  }
  return deepest
}

describe('depth', () => {
  test.each([
    ['{"a":', '1', '}'],
    ['[', '', ']'],
    ['[{"a":', '1', '}]'],
  ])('%s… is cut at 32 levels', (open, middle, close) => {
    const entry = entryOf(`{${HEAD},"x":${open.repeat(20_000)}${middle}${close.repeat(20_000)},"msg":"m"}`)
    // The record's own object becomes the entry's metadata.
    expect(depthOf(entry.metadata)).toBe(32)
    expect(entry.metadata?.['pino_ingest']).toEqual({ cut_for_depth: 1 })
    expect(entry.message).toBe('m')
  })

  test.each([30, 31, 32])('%i levels: not cut', (levels) => {
    const value = `${'['.repeat(levels)}"leaf"${']'.repeat(levels)}`
    expect(jsonOf(`{${HEAD},"x":${value},"msg":"m"}`).includes(value)).toBe(levels <= 31)
  })

  test('a chain of 20,000 causes', () => {
    const entry = entryOf(
      `{${HEAD},"err":${'{"type":"E","message":"m","stack":"s","cause":'.repeat(20_000)}null${'}'.repeat(20_000)}}`,
    )
    expect(entry.error?.stack?.split('caused by: ').length).toBe(31)
  })
})

describe('keys', () => {
  const wide = (keys: number, prefix = 'k'): string =>
    Array.from({ length: keys }, (_, index) => `"${prefix}${index}":${index}`).join(',')

  test('of one object are limited to 1,000', () => {
    const entry = entryOf(`{${HEAD},"x":{${wide(1_500)}},"y":{${wide(1_000)}},"msg":"m"}`)
    expect(Object.keys(entry.metadata?.['x'] as object).length).toBe(1_000)
    expect(Object.keys(entry.metadata?.['y'] as object).length).toBe(1_000)
    expect(entry.metadata?.['pino_ingest']).toEqual({ cut_keys: 500 })
  })

  test.each(['k', ''])('of the record: level, time, error and message are never cut (%j)', (prefix) => {
    expect(entryOf(`{${HEAD},${wide(1_500, prefix)},"err":{"type":"E","message":"boom"},"msg":"m"}`)).toMatchObject({
      level: 'info',
      timestamp: '2026-11-21T00:08:52.486Z',
      message: 'm',
      error: { type: 'E', message: 'boom' },
    })
  })

  test('do not count in a list', () => {
    expect(entryOf(`{${HEAD},"x":[${'1,'.repeat(1_500)}1],"msg":"m"}`).metadata?.['x']).toHaveLength(1_501)
  })

  test('that become equal when sanitized are all kept', () => {
    const lone = Array.from({ length: 900 }, (_, index) => `"\\ud${(0x800 + index).toString(16)}":${index}`).join(',')
    const entry = entryOf(`{${HEAD},"x":{${lone}},"msg":"m"}`)
    expect(new Set(Object.values(entry.metadata?.['x'] as object)).size).toBe(900)
  })

  test('that were sanitized do not replace an identical original key', () => {
    expect(entryOf('{"a\\u0000":1,"a":2,"msg":"m"}').metadata).toEqual({
      a: 2,
      a_: 1,
      pino_ingest: { removed_nul: 1 },
    })
  })
})

describe('text', () => {
  test('is well-formed and without NUL', () => {
    const entry = entryOf(
      `{${HEAD},"\\ud800k\\u0000":"\\udc00v\\u0000","ok":"\\ud83d\\ude00","msg":"a\\u0000b\\ud800"}`,
    )
    expect(entry.message).toBe('ab\ufffd')
    expect(entry.metadata).toEqual({
      '\ufffdk': '\ufffdv',
      ok: '😀',
      pino_ingest: { removed_nul: 3 },
    })
    expect(entryOf('not JSON \0').metadata).toEqual({ pino_ingest: { removed_nul: 1 } })
  })
})

describe('numbers', () => {
  test.each(['12345678901234567890', '-12345678901234567890', '9007199254740993', '1'.repeat(300), '-0'])(
    '%s keeps all digits',
    (digits) => {
      // The kernel rejects white space and a list of tags.
      for (const line of [
        `{${HEAD},"x":${digits},"y":[${digits}],"msg":"m"}`,
        `{${HEAD}, "x":${digits},"y":[${digits}],"tags":["a"],"z":12345678901234567,"msg":"m"}`,
      ]) {
        expect(jsonOf(line)).toContain(`"x":${digits},"y":[${digits}]`)
      }
    },
  )

  test.each(['1'.repeat(310), `-${'9'.repeat(400)}`, '1e309'])(
    '%s, out of range of a double, becomes text',
    (digits) => {
      expect(entryOf(`{${HEAD},"x":${digits},"msg":"m"}`).metadata).toEqual({ x: digits })
    },
  )

  test('text that looks like a number stays text', () => {
    expect(
      jsonOf(`{${HEAD}, "x":"12345678901234567890","y":12345678901234567890,"msg":"say \\"12345678901234567890\\""}`),
    ).toContain('"metadata":{"x":"12345678901234567890","y":12345678901234567890}')
  })

  test('a double does not change', () => {
    expect(
      entryOf(`{${HEAD},"x":[0.1,1e21,1.7976931348623157e308,5e-324,0.30000000000000004],"msg":"m"}`).metadata,
    ).toEqual({ x: [0.1, 1e21, 1.7976931348623157e308, 5e-324, 0.30000000000000004] })
  })
})

describe('bytes', () => {
  const max = 16_384

  test.each<[string, string]>([
    ['a long message', `{${HEAD},"msg":"${'x'.repeat(100_000)}"}`],
    ['wide characters', `{${HEAD},"msg":"${'€'.repeat(100_000)}"}`],
    ['pairs, from the second half on', `{${HEAD},"msg":"x${'😀'.repeat(100_000)}"}`],
    ['escapes', `{${HEAD},"msg":"${'\\u0001'.repeat(100_000)}"}`],
    ['a long stack', `{${HEAD},"err":{"type":"E","message":"m","stack":"${'\\n at x'.repeat(50_000)}"},"msg":"m"}`],
    [
      'many members',
      `{${HEAD},${Array.from({ length: 900 }, (_, i) => `"k${i}":"${'v'.repeat(60)}"`).join(',')},"msg":"m"}`,
    ],
    ['a long list', `{${HEAD},"x":[${'1,'.repeat(100_000)}1],"msg":"m"}`],
    ['a long key', `{${HEAD},"${'k'.repeat(100_000)}":1,"msg":"m"}`],
    ['plain text', 'x'.repeat(100_000)],
  ])('%s is shortened and marked', (_, line) => {
    const json = jsonOf(line, { maxEntryBytes: max })
    expect(faults(json, max)).toEqual([])
    expect((JSON.parse(json) as LogEntry).metadata?.['pino_ingest']).toMatchObject({
      shortened_from_bytes: expect.any(Number) as number,
    })
  })

  test('cuts only the longest text', () => {
    expect(
      entryOf(`{${HEAD},"a":"${'x'.repeat(100_000)}","b":"short","user_id":"u","msg":"m"}`, { maxEntryBytes: max }),
    ).toMatchObject({
      message: 'm',
      user_id: 'u',
      metadata: { b: 'short', a: expect.stringMatching(/^x{4000,}… \(100000 characters\)$/) as string },
    })
  })

  test('removes only the widest part', () => {
    const entry = entryOf(
      `{${HEAD},"x":[${'1,'.repeat(100_000)}1],"b":1,"tags":["t"],"breadcrumbs":[{"message":"c"}],"err":{"type":"E","message":"m"},"msg":"m"}`,
      { maxEntryBytes: max },
    )
    expect(entry).toMatchObject({
      tags: ['t'],
      breadcrumbs: [{ message: 'c' }],
      error: { type: 'E' },
      metadata: { b: 1 },
    })
    expect(entry.metadata).not.toHaveProperty('x')
  })

  test('does not change an entry of exactly the limit', () => {
    for (const unit of ['x', 'é', '€', '😀']) {
      const whole = jsonOf(`{${HEAD},"msg":"${unit.repeat(2_000)}"}`)
      const bytes = Buffer.byteLength(whole)
      expect(jsonOf(`{${HEAD},"msg":"${unit.repeat(2_000)}"}`, { maxEntryBytes: bytes })).toBe(whole)
      expect(entryOf(`{${HEAD},"msg":"${unit.repeat(2_000)}"}`, { maxEntryBytes: bytes - 1 }).metadata).toHaveProperty(
        'pino_ingest',
      )
    }
  })

  test('shortening an entry does not change the metadata option', () => {
    const metadata = { build: { notes: 'n'.repeat(3_000) } }
    const mapper = new Mapper(createMappingOptions({ maxEntryBytes: 8_192, metadata }), -1, () => 0)
    for (const length of [50_000, 10]) {
      const line = `{${HEAD},"severity":"notice","msg":"${'x'.repeat(length)}"}`
      const entry = JSON.parse(mapLine(mapper, line).json) as LogEntry
      if (length === 10) expect(entry.metadata).toMatchObject(metadata)
      else expect(entry.metadata).toHaveProperty('pino_ingest')
    }
    expect(metadata.build.notes).toHaveLength(3_000)
  })

  test('any line fits into 2,048 bytes', () => {
    const maxEntryBytes = 2_048
    fc.assert(
      fc.property(anyLine, (line) => {
        const parsed = mapByParsing(line, createMappingOptions({ maxEntryBytes }), RECEIVED_AT).json
        for (const json of [jsonOf(line, { maxEntryBytes }), parsed]) expect(faults(json, maxEntryBytes)).toEqual([])
      }),
      { numRuns: modelRuns(60, 1_000) },
    )
    for (const { raw } of corpus) expect(faults(jsonOf(raw, { maxEntryBytes }), maxEntryBytes)).toEqual([])
  })
})

test.each<[string, (n: number) => string]>([
  ['at ((((', (n) => `{${HEAD},"err":{"type":"E","message":"m","stack":"E\\n    at ${'('.repeat(n)}"}}`],
  [':1:1:1', (n) => `{${HEAD},"stack":"E\\n    at ${':1'.repeat(n / 2)}"}`],
  ['spaces', (n) => ' '.repeat(n)],
  ['spaces in a stack', (n) => `{${HEAD},"stack":"${' '.repeat(n)}at"}`],
  ['digits', (n) => `{${HEAD},"a":${'1'.repeat(n)}}`],
  ['digits of a time', (n) => `{"level":30,"time":"${'1'.repeat(n)}"}`],
  ['digits of a message', (n) => `{${HEAD},"err":{"type":"E","message":"${'1a'.repeat(n / 2)}"}}`],
  ['long numbers', (n) => `{${HEAD},"a":[${'12345678901234567890,'.repeat(n / 21)}1]}`],
  ['backslashes', (n) => `{${HEAD},"a":"${'\\'.repeat(n)}"}`],
  ['bare quotes', (n) => '"'.repeat(n)],
  ['brackets', (n) => '['.repeat(n)],
  ['lone surrogates', (n) => `{${HEAD},"a":"${'\\ud800'.repeat(n / 6)}"}`],
  ['slashes', (n) => `{${HEAD},"req":{"method":"GET","url":"${'/'.repeat(n)}"}}`],
  ['a scheme', (n) => `{${HEAD},"req":{"method":"GET","url":"${'a'.repeat(n)}"}}`],
  ['zeros of a traceparent', (n) => `{${HEAD},"req":{"method":"GET","headers":{"traceparent":"00-${'0'.repeat(n)}"}}}`],
  [
    'objects of keys that become one',
    (n) => {
      const keys = Array.from({ length: 900 }, (_, index) => `"\\ud${(0x800 + index).toString(16)}":1`).join(',')
      return `{${HEAD},"a":[${Array.from({ length: n / keys.length }, () => `{${keys}}`).join(',')}]}`
    },
  ],
  [
    'parts of an error',
    (n) => `{${HEAD},"err":{"type":"E","errors":[${'{"type":"E","stack":"s"},'.repeat(n / 24)}1]}}`,
  ],
])('300,000 characters of %s take linear time', (_, lineOf) => {
  // A tenth of a second with linear time; a minute and more with quadratic time.
  expect(jsonOf(lineOf(300_000), { fingerprint: true })).toMatch(/^\{"level":/)
})

test('a wide list does not shorten the message of the error', () => {
  const stack = `TypeError: boom${'\\n    at f (/app/src/a.js:1:2)'.repeat(20)}`
  const words = 'the payment could not be taken because the card was declined by its issuer, who gave no reason for it'
  const entry = entryOf(
    `{${HEAD},"err":{"type":"TypeError","message":"boom","stack":"${stack}"},"ids":[${'1234567,'.repeat(60_000)}1],"msg":"${words}"}`,
  )
  expect(entry).toMatchObject({ message: words, error: { message: 'boom', stack: JSON.parse(`"${stack}"`) as string } })
  expect(entry.metadata).not.toHaveProperty('ids')
  expect(entry.metadata).toHaveProperty('pino_ingest.shortened_from_bytes')
})

describe('an incomplete record', () => {
  const cookie = '"req":{"method":"GET","url":"/a","headers":{"x":"1","cookie":"sid=s3cret; theme=da'

  test.each<[string, string]>([
    ['within a header', `{${HEAD},"a":1,${cookie}`],
    ['within a number', `{${HEAD},"a":1,"secret":47`],
    ['after a member without a comma', `{${HEAD},"a":1,"secret":"s3cret"`],
    ['within an escape', `{${HEAD},"a":1,"secret":"s3cret\\`],
    ['before another record', `{${HEAD},"a":1,"msg":"s3cr{"level":50,"time":1,"msg":"s3cret"}`],
    ['and damaged', `{${HEAD},"a":1,"secret":s3cret,"msg":"m"}`],
  ])('that was cut %s: the complete members are sent', (_, line) => {
    const { metadata, message, level, timestamp } = entryOf(line)
    expect(metadata).toEqual({ pino_ingest: { cut_from_chars: line.length }, a: 1 })
    expect([message, level, timestamp]).toEqual(['(no message)', 'info', '2026-11-21T00:08:52.486Z'])
  })

  test.each(['{"level":', '{"level":"s3cret', '{"level":s3cret}', '{"time":1,,"msg":"s3cret"}'])('%s', (line) => {
    const { metadata, message } = entryOf(line)
    expect({ metadata, message }).toEqual({
      metadata: { pino_ingest: { cut_from_chars: line.length } },
      message: '(no message)',
    })
  })

  test('with text after its end: the record is sent', () => {
    expect(entryOf(`{${HEAD},"msg":"m"} s3cret`)).toMatchObject({
      message: 'm',
      metadata: { pino_ingest: { cut_from_chars: HEAD.length + 19 } },
    })
  })

  test.each(['{"a":1} done', '{ level: 30', '{}}', '{"a', '[1,'])('other text stays text: %s', (line) => {
    expect(entryOf(line)).toEqual({ level: 'info', message: line, timestamp: expect.any(String) as string })
  })

  test('that was too long to be read: its length is noted, whatever its first key is', () => {
    const options = createMappingOptions()
    const parse = (line: string): unknown => JSON.parse(mapByParsing(line, options, RECEIVED_AT, 20_000_000).json)
    const pino_ingest = { cut_from_chars: 20_000_000 }
    expect(parse('{"a":1,"body":"s3cret')).toMatchObject({ message: '(no message)', metadata: { a: 1, pino_ingest } })
    expect(parse('a text')).toMatchObject({ message: 'a text', metadata: { pino_ingest } })
  })

  test('is reported with its length', () => {
    const reported: number[] = []
    const mapper = new Mapper(
      createMappingOptions(),
      -1,
      () => 0,
      undefined,
      undefined,
      (chars) => reported.push(chars),
    )
    for (const line of [`{${HEAD},"msg":"m"}`, `{${HEAD},"msg":"m`, 'text']) mapLine(mapper, line)
    expect(reported).toEqual([HEAD.length + 10])
  })
})
