/** The records in what is piped: with other bytes before them, several on one line, with text around them, wrapped. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Account } from '../../src/diagnostics/account.js'
import { createMappingOptions } from '../../src/pipeline/mapping-options.js'
import { RecordReader } from '../../src/pipeline/record-reader.js'
import type { LogEntry } from '../../src/protocol/log-entry.js'
import type { EntryBytes } from '../../src/record/mapped-record.js'
import { Mapper } from '../../src/record/mapper.js'
import { expectLinearTime } from '../linear-time.js'
import { modelRuns } from '../model-runs.js'
import { resolve } from '../options/resolve.js'

let found: (number | string)[] = []
const options = createMappingOptions(resolve({}), undefined)
const now = (): number => Date.UTC(2027, 0, 1)
const mapper = new Mapper(options, -1, now, undefined, undefined, (chars) => found.push(chars))

/** @returns the entries, the number of received records, lengths of incomplete records, and forms that cannot be read */
function pipe(...texts: readonly string[]) {
  const account = new Account()
  const entries: LogEntry[] = []
  const add = (added: string | EntryBytes): void => {
    const json = typeof added === 'string' ? added : added.memory.toString('utf8', added.start, added.end)
    entries.push(...(JSON.parse(`[${json}]`) as LogEntry[]))
  }
  found = []
  const reader = new RecordReader({
    isEnabled: true,
    endpoint: {
      account,
      admission: { threshold: 0 },
      batcher: { freeEntries: 100, freeBytes: 100_000, add },
      recordNotAdmitted: () => {},
    },
    entryBuilder: { beginText: () => {}, stops: 0, build: (...line) => mapper.map(...line) },
    mapper,
    onUnsupportedInput: (form) => found.push(form),
    joinsLines: true,
    onRead: () => {},
  })
  for (const text of texts) reader.write(text)
  reader.end()
  return { entries, received: account.received, problems: found }
}

/** Levels and messages. */
function read(...texts: readonly string[]): string[] {
  const { entries, received } = pipe(...texts)
  expect(received).toBe(entries.length)
  return entries.map(({ level, message }) => `${level} ${message}`)
}

const ERROR =
  '{"level":50,"time":1764324000000,"msg":"no","err":{"type":"TypeError","message":"x","stack":"TypeError: x"}}'
const WARNING = '{"level":40,"time":1764324000001,"msg":"hm {\\"level\\":30,\\"msg\\":\\"quoted\\"}"}'
const SPACED =
  '{"level": "info", "message": "spaced", "timestamp": "2025-11-28T10:00:00Z", "list": [{"a": {}}, -1.5e3, null]}'

describe('bytes before a record', () => {
  test.each([
    ['a byte order mark', '\ufeff'],
    ['many NULs', '\0'.repeat(300_000)],
    ['control characters', '\u001e\u0007 \u007f'],
    ['colors', '\u001b[0m\u001b[32;1m '],
  ])('%s', (_, bytes) => {
    const { entries, received } = pipe(`${bytes}${ERROR}\nfiles\n${bytes}${ERROR}\n`)
    expect(received).toBe(3)
    for (const at of [0, 2]) expect(entries[at]).toEqual(pipe(ERROR).entries[0])
  })

  const wide = Buffer.from(`\ufeff${WARNING}\n${WARNING}`, 'utf16le')
  test.each([
    ['little-endian', wide],
    ['big-endian', Buffer.from(wide).swap16()],
    ['without a byte order mark', wide.subarray(2)],
  ])('UTF-16 is counted, and reported once: %s', (_, bytes) =>
    expect(pipe(bytes.toString())).toMatchObject({ received: 2, problems: ['UTF-16'] }),
  )
})

describe('a line', () => {
  test.each<[string, string, string[]]>([
    [
      'records with other bytes between them',
      `${ERROR} \0${SPACED}\r,\u001b[0m${ERROR}\0`,
      ['error no', 'info spaced', 'info ,\u001b[0m', 'error no'],
    ],
    ['a text after a record', `${ERROR}done\n  at once`, ['error no', 'info done\n  at once']],
    ['texts between records', `${ERROR}b ${SPACED}c`, ['error no', 'info b', 'info spaced', 'info c']],
    ['a text before records', `a {"level":3${ERROR} ${SPACED}\r`, ['info a {"level":3', 'error no', 'info spaced']],
    ['a byte order mark before a text', '\ufeffa', ['info a']],
    ['a text like a prefix', `1 was lost; restart [a]: ${ERROR}`, ['info 1 was lost; restart [a]:', 'error no']],
    ['a record that was cut, and a record', `{"level":30,"ti${ERROR}`, ['error no', 'info (no message)']],
    ['a record within a record', `{"level":30,"ms${ERROR}g":"around"}`, ['error no', 'info around']],
    [
      'a record with records in it',
      JSON.stringify({ level: 30, msg: 'a', list: [{ level: 50, msg: 'b' }] }),
      ['info a'],
    ],
    [
      'objects that are no records',
      'request body {"a":1} {"level":30} {"name":"x"',
      ['info request body {"a":1} {"level":30} {"name":"x"'],
    ],
    ['a list of records', `[${ERROR}, ${SPACED},${ERROR}]`, ['error no', 'info spaced', 'error no']],
  ])('%s', (_, line, expected) => {
    expect(read(`${line}\n`)).toEqual(expected)
    expect(read(...line)).toEqual(expected)
  })

  test.each([
    '::1 - - "GET /x{"level":60,"time":1,"msg":"forged"} HTTP/1.1" 404',
    '::1 - - "GET /x?a={"level":30,/../ HTTP/1.1" 500',
    `a {"a":1} ${SPACED} ${SPACED}, and {"level":30,"msg":"cut`,
  ])('a text with objects in it is one text: %s', (line) => expect(read(`${line}\n`)).toEqual([`info ${line}`]))

  test('a header with a record in it is removed', () =>
    expect(JSON.stringify(pipe('Cookie: prefs={"level":"error","message":"x"}; sid=s3cret'))).not.toContain('s3cret'))

  test.each([
    ['starts of objects', '{"'],
    ['starts of records', '{"level":'],
    ['open objects', '{"a":'],
    ['open objects and texts', '{",x,{":1,'],
    ['objects that are not JSON', '{"a" 1}'],
    ['records', `${ERROR}x`],
    ['escapes', '{"\\"'],
    ['NULs', '{"a"\0'],
  ])('linear time: %s', (_, part) => {
    expectLinearTime(400_000, (size) => {
      const line = `x${part.repeat(size / part.length)}${ERROR}`
      return () => pipe(line)
    })
  })
})

const TIME = '2026-11-28T10:00:00.123456789Z'
const STACK = ['Error: no', '    at a (a.js:1:1)', '    at b (b.js:1:1)']
/** `$` is the line; "$" is the line and a newline, as JSON. */
const wrap = (form: string, line: string): string =>
  form.replace(/"\$"|\$/, (mark) => (mark === '$' ? line : JSON.stringify(`${line}\n`)))

describe('wrapped lines', () => {
  test.each([
    ['docker json-file', `{"log":"$","stream":"stderr","attrs":{"tag":"a"},"time":"${TIME}"}`],
    ['docker logs -t', `${TIME} $`],
    ['docker compose logs', 'web-1  | $'],
    ['docker compose logs -t, in color', `\u001b[36mweb-1  | \u001b[0m${TIME} $`],
    ['docker service logs', 'web.1.ab12@node-1    | $'],
    ['CRI', `${TIME} stdout F $`],
    ['kubectl logs --prefix --timestamps', `[pod/web-1/app] ${TIME} $`],
    ['journalctl -o json', '{"__CURSOR":"s=1","__REALTIME_TIMESTAMP":"1764324","MESSAGE":"$","PRIORITY":"6"}'],
    ['journalctl -o json, several texts', '{"__REALTIME_TIMESTAMP":"1764324","MESSAGE":["$"],"PRIORITY":"6"}'],
    ['journalctl', 'Nov 28 10:00:00 host app[123]: $'],
    ['RFC 3164', '<14>Nov  8 10:00:00 app: $'],
    ['RFC 5424', String.raw`<14>1 ${TIME} host app 123 ID47 [a@1 b="c\]"][d@2] $`],
    ['rsyslog', '2026-11-28T10:00:00.123456+00:00 host app[123]: $'],
    ['PM2 with JSON', '{"message":"$","timestamp":"","type":"out","process_id":0,"app_name":"app"}'],
    ['pm2 logs', '0|app  | $'],
    ['Heroku', '2026-11-28T10:00:00.123456+00:00 app[web.1]: $'],
  ])('%s', (_, form) => {
    const lines = [ERROR, ...STACK, ERROR].map((line) => `${wrap(form, line)}\n`)
    expect(pipe(...lines)).toEqual(pipe([ERROR, ...STACK, ERROR].join('\n')))
  })

  test.each([
    ['docker compose logs with a name', 'api | $'],
    ['journalctl -o short-full', 'Fri 2026-11-28 10:00:00 UTC host app[123]: $'],
    ['journalctl -o short-monotonic', '[ 1234.567890] host app[123]: $'],
    ['pm2 logs --timestamp', '\u001b[32m0|app  | \u001b[39m2026-11-28T10:00:00: $'],
    ['CloudWatch', '2026-11-28T10:00:00.123000+00:00 web/app/0a1b $'],
    ['a byte order mark after a prefix', `<14>1 ${TIME} - - - - - \ufeff$`],
    ['a list of bytes', `{"MESSAGE":${JSON.stringify([...Buffer.from(ERROR)])},"__REALTIME_TIMESTAMP":"1"}`],
  ])('%s: only before a record', (_, form) => expect(pipe(wrap(form, ERROR))).toEqual(pipe(ERROR)))

  test.each([
    ['CRI', (text: string, stream: string, tag: string) => `${TIME} ${stream} ${tag} ${text}\n`],
    [
      'docker',
      (text: string, stream: string, tag: string) =>
        `${JSON.stringify({ log: tag === 'F' ? `${text}\n` : text, stream })}\n`,
    ],
  ])('%s: the parts of a line are joined per stream', (_, part) => {
    const first = part(ERROR.slice(0, 50), 'stdout', 'P')
    const text = `${first}${part('between', 'stderr', 'F')}${part(ERROR.slice(50, 60), 'stdout', 'P')}${part(ERROR.slice(60), 'stdout', 'F')}`
    expect(read(text)).toEqual(['info between', 'error no'])
    expect(read(...text)).toEqual(['info between', 'error no'])
    expect(pipe(first).problems).toEqual([50])
  })

  test('an entry of the local service is the entry that was sent', () => {
    const entry = {
      level: 'error',
      message: 'payment failed',
      timestamp: TIME.replace(/\d{6}Z$/, 'Z'),
      service: 'shop',
      source: '/a.js:1:1',
      request_id: 'q-1',
      request: { method: 'GET', path: '/x', status_code: 500, duration_ms: 12.5 },
      trace: { trace_id: 'a'.repeat(32) },
      error: { type: 'TypeError', message: 'm', stack: 'TypeError: m\n    at x (/a.js:1:1)' },
      user: { id: 'u-1' },
      breadcrumbs: [{ type: 'log', message: 'b', level: 'info', timestamp: '2026-01-31T08:00:00.000Z' }],
      tags: ['a'],
      metadata: { pid: 1, orderId: 4711, entry: { level: 10 } },
    }
    const line = JSON.stringify({ id: 'ent_1', seq: 7, received_at: TIME, batch_id: null, entry })
    expect(pipe(`${line}\n${line}\n`)).toEqual({ entries: [entry, entry], received: 2, problems: [] })
    const record = JSON.stringify({ id: 'a', seq: 7, received_at: TIME, entry, level: 30, msg: 'a record' })
    expect(read(`${record}\n`)).toEqual(['info a record'])
  })

  test('PM2 writes several lines in one object', () => {
    const message = `${ERROR}\n${STACK.join('\n')}\n${ERROR}\n`
    const line = JSON.stringify({ message, timestamp: '', type: 'out', process_id: 0, app_name: 'a' })
    expect(read(line)).toEqual(['error no', `info ${STACK.join('\n')}`, 'error no'])
  })

  test.each([
    'cpu-1 | 80 %',
    'a  | {"a":1}',
    '2026-11-28T10:00:00Z request {"a":1}',
    '2026-11-28T10:00:00Z started',
    '2026-11-28 10:00:00 app[1] stopped {"a":1}',
    '{"log":"a","stream":"stdout file"}',
    '{"message":"a","type":"out","process_id":1,"level":"info","extra',
    '[pod] a',
  ])('a text of the application is unchanged: %s', (line) =>
    expect(pipe(`${line}\n`).entries.map(({ message }) => message)).toEqual([
      line.startsWith('{') ? expect.anything() : line,
    ]),
  )

  test('a journal without its text is reported once, and counted', () => {
    const line = '{"MESSAGE":null,"__REALTIME_TIMESTAMP":"1","PRIORITY":"6"}\n'
    const { received, problems } = pipe(line + line)
    expect(received).toBe(2)
    expect(problems).toHaveLength(1)
  })
})

describe('records that are cut, joined and wrapped at any byte', () => {
  const SECRET = 's3cret'
  const someWord = fc.constantFrom('', 'done', 'a {"b":1}', '\0\0', '\ufeff', '\u001b[0m', ' \r', '"', '[', ':', ',')
  const someRecord = fc
    .record({ quote: fc.string(), deep: fc.json({ maxDepth: 2 }) })
    .map(({ quote, deep }) => (id: number): string => {
      const headers = { cookie: `sid=${SECRET}`, authorization: `Bearer ${SECRET}` }
      const deepest: unknown = JSON.parse(deep)
      return JSON.stringify({
        level: 30,
        time: 1_764_324_000_000,
        id,
        quote,
        deep: deepest,
        req: { method: 'GET', url: '/', headers },
        msg: 'm',
      })
    })
  const somePiece = fc.record({ record: someRecord, cut: fc.option(fc.nat()), before: someWord })
  const someWrap = fc.constantFrom<(text: string, at: number) => string>(
    (text) => text,
    (text) => wrap('web-1  | $', text),
    (text) => wrap('{"MESSAGE":"$","__REALTIME_TIMESTAMP":"1"}', text),
    (text, at) => `${TIME} stdout P ${text.slice(0, at)}\n${TIME} stdout F ${text.slice(at)}`,
    (text, at) =>
      `${JSON.stringify({ log: text.slice(0, at), stream: 'stdout' })}\n${wrap('{"log":"$","stream":"stdout"}', text.slice(at))}`,
  )
  const someLine = fc.record({
    pieces: fc.array(somePiece, { minLength: 1, maxLength: 4 }),
    wrapLine: someWrap,
    at: fc.nat(),
    /** Followed by a record that a newline cuts. */
    halves: fc.array(fc.tuple(someRecord, fc.nat()), { maxLength: 1 }),
  })
  const removeBlanks = (text: string): string => text.replace(/^(?:[\0\ufeff \r]|\u001b\[0m)+/, '').trimEnd()

  test('each complete record is read once, each entry is counted, and no header is sent', () => {
    fc.assert(
      fc.property(
        fc.array(someLine, { minLength: 1, maxLength: 6 }),
        fc.array(fc.nat(), { maxLength: 5 }),
        (lines, places) => {
          const complete: number[] = []
          let count = 0
          const text = lines.map(({ pieces, wrapLine, at, halves }) => {
            let line = ''
            /** The text after the latest record. */
            let gap = ''
            let ids: number[] = []
            let isText: boolean | undefined
            for (const { record, cut, before } of pieces) {
              const json = record((count += 1))
              const part = cut === null ? json : json.slice(0, cut % json.length)
              gap += before
              line += before + part
              if (cut !== null) gap += part
              else {
                isText ??= !/^[,[]?\s*(?:\{"|$)/.test(removeBlanks(gap))
                ids = isText && removeBlanks(gap) !== '' ? [count] : [...ids, count]
                gap = ''
              }
            }
            if (isText === false || removeBlanks(gap) === '') complete.push(...ids)
            const all = [line]
            for (const [record, place] of halves) {
              const json = record((count += 1))
              const middle = 2 + (place % (json.length - 2))
              complete.push(count)
              all.push(json.slice(0, middle), json.slice(middle))
            }
            return all.map((each) => `${wrapLine(each, at % (each.length + 1))}\n`).join('')
          })
          const whole = text.join('')
          const cuts = [0, ...places.map((place) => place % (whole.length + 1)).toSorted((a, b) => a - b), whole.length]
          const { entries, received } = pipe(...cuts.slice(1).map((cut, index) => whole.slice(cuts[index], cut)))
          expect(received, whole).toBe(entries.length)
          expect(JSON.stringify(entries), whole).not.toContain(SECRET)
          const ids = entries
            .filter(
              ({ request, metadata }) => request !== undefined && !JSON.stringify(metadata).includes('cut_from_chars'),
            )
            .map(({ metadata }) => metadata?.['id'])
          expect(ids, whole).toEqual(complete)
        },
      ),
      { numRuns: modelRuns(80, 20_000) },
    )
  })
})
