/** Long lines are shortened before they are parsed: what is kept, what is noted, and no half of a secret. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { JsonObject, LogEntry } from '../../src/protocol/log-entry.js'
import { createCutCounts } from '../../src/record/clean-copy.js'
import type { MappingOptions } from '../../src/record/reference/entry-fields.js'
import { CUT_MARK, shortenLine } from '../../src/record/shorten-line.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { faults } from './valid-entry.js'
import { modelRuns } from '../model-runs.js'
import { jsonWith as jsonOf } from './map-line.js'

const HEAD = '"level":50,"time":1795219732486'
const MAX = 256 * 1024
const FRAME = String.raw`\n    at pay (/app/pay.js:1:2)`
const secretKeys = ['token', 'password']

function entryOf(line: string, over: Partial<MappingOptions> = {}): LogEntry {
  const json = jsonOf(line, over)
  expect(faults(json, MAX)).toEqual([])
  expect(json).not.toContain(CUT_MARK)
  return JSON.parse(json) as LogEntry
}

function repeat(count: number, item: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(',')
}

describe('a long line keeps its message, and notes what was removed', () => {
  const keys = repeat(60_000, (index) => `"k${index}":${index}`)

  test('keys of the record', () => {
    const entry = entryOf(`{${HEAD},${keys},"err":{"type":"E","message":"boom"},"msg":"m"}`)
    expect(entry).toMatchObject({ level: 'error', message: 'm', error: { type: 'E', message: 'boom' } })
    expect(entry.metadata?.['pino_ingest']).toMatchObject({ cut_keys: 59_002 })
  })

  test('keys of an object', () => {
    const entry = entryOf(`{${HEAD},"x":{${keys}},"err":{${keys},"type":"E","message":"boom","stack":"s"},"msg":"m"}`)
    expect(entry).toMatchObject({ message: 'm', error: { type: 'E', message: 'boom', stack: 's' } })
    expect(Object.keys(entry.metadata?.['x'] as object)).toHaveLength(1_000)
    expect(entry.metadata?.['pino_ingest']).toMatchObject({ cut_keys: 118_000 })
  })

  test('items of a list', () => {
    const list = repeat(200_000, (index) => `{"id":${index}}`)
    const entry = entryOf(`{${HEAD},"list":[${list}],"err":{"type":"E","message":"boom","code":"C"},"msg":"m"}`)
    expect(entry).toMatchObject({ message: 'm', error: { type: 'E' }, metadata: { error: { code: 'C' } } })
    expect(entry.metadata?.['list']).toHaveLength(5_000)
    expect(entry.metadata?.['pino_ingest']).toMatchObject({ cut_items: 195_000 })
  })

  test('a stack', () => {
    const line = `{${HEAD},"err":{"type":"E","message":"boom","stack":"E: boom${FRAME.repeat(100_000)}"},"user_id":"u","msg":"m"}`
    const entry = entryOf(line, { fingerprint: true })
    expect(entry).toMatchObject({ message: 'm', user_id: 'u', error: { message: 'boom' }, source: '/app/pay.js:1:2' })
    expect(entry.error?.stack).toMatch(/^E: boom\n {4}at pay [^]{1000,}… \(2900007 characters\)$/)
    expect(entry.metadata?.['pino_ingest']).toEqual({ shortened_from_bytes: line.length })
  })

  test('depth', () => {
    const entry = entryOf(`{${HEAD},"x":${'['.repeat(400_000)}1${']'.repeat(400_000)},"msg":"m"}`)
    expect(entry).toMatchObject({ message: 'm', metadata: { pino_ingest: { cut_for_depth: 1 } } })
  })

  test('nothing of an incomplete record, whose end may be a secret', () => {
    const entry = entryOf(`{"msg":"${'x'.repeat(600_000)}`)
    expect(entry).toMatchObject({ message: '(no message)', metadata: { pino_ingest: { cut_from_chars: 600_008 } } })
  })

  test('nothing that is not sent is noted', () => {
    const entry = entryOf(`{${HEAD},"x":1,"y":${'1'.repeat(10)},"msg":"m"${' '.repeat(600_000)}}`)
    expect(entry.metadata).toEqual({ x: 1, y: 1_111_111_111 })
  })
})

describe('no half of a secret at a cut', () => {
  /** Small, since redacting takes most of the time. */
  const maxChars = 64 * 1024
  /** Of the third long text. */
  const keptChars = maxChars / 4
  const after = 'b '.repeat(40_000)
  const withoutLengths = (json: string): string => json.replace(/\(\d+ characters\)|_bytes":\d+/g, '')
  const plain = new Redactor({ patterns: [], keys: secretKeys })
  const patterns = new Redactor({
    patterns: ['email', 'creditCard', String.raw`sk_\d{64}`],
    keys: secretKeys,
  })
  const S = '4711471147114711'
  const secrets = [
    `https://bob:${S}${S}@a.example/`,
    `https%253A%252F%252Fbob%253A${S}${S}%2540a.example`,
    `?token=${S}&`,
    `Cookie: sid=${S}\\n`,
    `{\\"cookie\\":\\"${S}\\"}`,
    `Basic ${Buffer.from(`bob:${S}`).toString('base64')} `,
  ]
  const matched = [`sk_${S.repeat(4)} `, 'jane4711@example.com ', '4111111111111111 ']

  test.each([
    ['without patterns', plain, secrets],
    ['with patterns', patterns, [...secrets, ...matched]],
  ])('%s', (_, redactor, forms) => {
    let longest = 0
    for (const secret of forms) {
      for (const around of [0, 4_096]) {
        for (let back = 0; back <= secret.length + 12; back += 8) {
          const before = keptChars + around - back
          const value = `"${'a '.repeat(before / 2)}${secret}${after}"`
          const line = `{${HEAD},"x":"${after}","y":"${after}","err":{"type":"E","message":"m","stack":${value}},"msg":"m"}`
          const json = jsonOf(line, { redactor, maxEntryBytes: maxChars })
          const { length = 0 } = /(?:a )+/.exec(json)?.[0] ?? ''
          longest = Math.max(longest, length)
          expect(withoutLengths(json), `${secret} ${back}`).not.toMatch(/4711|4111|Ym9iOj|jane/)
        }
      }
    }
    // Only the note of the length hides the last characters: the entry is not shortened further.
    expect(longest).toBeGreaterThan(keptChars - 30)
  })

  test('even if redaction makes the text short', () => {
    for (let back = 0; back <= 60; back += 3) {
      const before = `?token=${'x'.repeat(maxChars + 4_096 - back - 20)} `
      const line = `{${HEAD},"msg":"${before}https://bob:${S}${S}@a.example/ ${'b '.repeat(270_000)}"}`
      expect(jsonOf(line, { redactor: plain, maxEntryBytes: maxChars })).not.toContain('4711')
    }
  })
})

describe('any JSON', () => {
  const anyText = (value: unknown, spaces: number): string => JSON.stringify(value, undefined, spaces)
  const record = fc.dictionary(fc.string({ unit: 'binary', maxLength: 6 }), fc.jsonValue({ maxDepth: 4 }), {
    maxKeys: 20,
  })

  test('within the limits is unchanged', () => {
    fc.assert(
      fc.property(record, fc.constantFrom(0, 2), (value, spaces) => {
        const json = anyText(value, spaces)
        expect(shortenLine(json, MAX, createCutCounts(), () => false)).toBe(json)
      }),
    )
  })

  test('remains JSON with its mapped keys', () => {
    const texts = fc.array(fc.string({ unit: 'binary', minLength: 4_000, maxLength: 9_000 }), { maxLength: 4 })
    fc.assert(
      fc.property(record, texts, fc.nat(1_200), fc.constantFrom(0, 2), (value, long, count, spaces) => {
        const wide = Object.fromEntries(Array.from({ length: count }, (_, index) => [`w${index}`, index]))
        const list = Array.from({ length: 12_000 }, (_, index) => (index % 3 === 0 ? { a: [index] } : index))
        const json = anyText(
          { ...value, wide, list, more: list, long, ...wide, last: 'm', msg: { stack: long, wide } },
          spaces,
        )
        const cuts = createCutCounts()
        const short = JSON.parse(shortenLine(json, 100, cuts, (key) => key === 'last' || key === 'msg')) as JsonObject
        expect(short['last']).toBe('m')
        expect(Object.keys(short['msg'] as object)).toContain('stack')
        expect(Object.keys(short).length).toBeLessThanOrEqual(1_002)
        expect(cuts.items).toBeGreaterThan(0)
      }),
      { numRuns: modelRuns(4, 30) },
    )
  })
})
