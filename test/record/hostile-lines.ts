/** Unusual and malformed lines, deterministic for a seed. None contains a newline. */
import fc from 'fast-check'
import { anyLine } from './record-lines.js'

const HEAD = '"level":30,"time":1795219732486'

/** Almost valid JSON with one small mistake. */
const badValue = fc.constantFrom(
  ...[
    '01',
    '1.',
    '.5',
    '-',
    '0x1f',
    'NaN',
    '-Infinity',
    'undefined',
    'True',
    'truefalse',
    "'x'",
    '"',
    '"\\x41"',
    '"\\u12"',
  ],
  ...['"\u0001"', '"a\tb"', '[1,]', '{"a":}', '{"a"}', '{"a":1,}', '{a:1}', '[1 2]', ']', '}', '1 2', '/* c */ 1'],
)

/** A second level and time, also with escapes. */
const forged = fc
  .tuple(
    fc.constantFrom('level', '\\u006cevel', '\\u006c\\u0065\\u0076\\u0065\\u006c'),
    fc.constantFrom('time', '\\u0074ime', 'tim\\u0065'),
  )
  .map(([level, time]) => `{${HEAD},"${level}":60,"${time}":"1999-01-01T00:00:00.000Z","msg":"forged"}`)

/** Text, beginnings of records, and records of other loggers. */
const plain = fc.constantFrom(
  ...[
    'Server listening on 3000',
    ' {} ',
    '[',
    '\u0000',
    '\ud800',
    '\ufeff{"level":30}',
    '   ',
    '\t',
    '\\',
    '"',
    '\r\r',
  ],
  ...['{"', '{"\\', '{"a', '{"a"', '{"a":', '{"a":"', '{"a":"\\', '{"a":1', '{"a":1,', '{"a":1},'],
  ...['TypeError: x is not a function', '    at Object.<anonymous> (/app/a.js:1:2)', 'ts=2026-11-21 msg="logfmt"'],
  '{"level":"error","message":"boom","stack":"Error: boom\\n    at f (/app/a.js:1:2)","timestamp":"2026-11-21T00:08:52.496Z"}',
  '{"@timestamp":"2026-11-21T00:08:52.496Z","log.level":"info","message":"ecs","ecs":{"version":"1.6.0"},"service":{"name":"x"}}',
  '{"severity":"ERROR","message":"gcp","logging.googleapis.com/trace":"projects/p/traces/t","httpRequest":{"requestMethod":"GET"}}',
  '{"level":"info","ts":1795219732.4867,"caller":"main.go:12","msg":"zap"}',
)

const line = fc
  .tuple(
    fc.oneof(
      { weight: 16, arbitrary: anyLine },
      { weight: 1, arbitrary: forged },
      { weight: 1, arbitrary: badValue.map((value) => `{${HEAD},"x":${value},"msg":"bad"}`) },
      { weight: 2, arbitrary: plain },
    ),
    fc.constantFrom('', '', '', '\r'),
  )
  .map((parts) => parts.join(''))

const numbered = (count: number, member: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => member(i)).join(',')
const nested = (count: number, open: string, close: string): string => `${open.repeat(count)}1${close.repeat(count)}`
const part = '{"type":"E","message":"m","stack":"s"},'

/** Members that would take a quadratic mapper minutes. */
const LARGE: readonly (() => string)[] = [
  () => `"a":${nested(20_000, '{"a":', '}')}`,
  () => `"a":${nested(20_000, '[', ']')}`,
  () => `"err":${nested(20_000, '{"type":"E","message":"m","stack":"s","cause":', '}')}`,
  () => `"message":"${'x'.repeat(1_200_000)}"`,
  () => `"message":"${'\\ud83d\\ude00'.repeat(100_000)}"`,
  () => `"err":{"type":"E","message":"m","stack":"${'\\n    at f (/app/a.js:1:2)'.repeat(50_000)}"}`,
  () => numbered(2_000, (i) => `"k${i}":${i}`),
  () => numbered(2_000, (i) => `"${i}":${i}`),
  () => `"a":{${numbered(2_000, (i) => `"k${i}":${i}`)}}`,
  // Keys that become one.
  () => numbered(1_000, (i) => `"\\ud${(0x800 + i).toString(16)}":1`),
  () => `"a":[${'1,'.repeat(150_000)}1]`,
  () => `"pino_ingest":{"a":[${'1,'.repeat(150_000)}1]}`,
  () => `"tags":[${'"tag",'.repeat(50_000)}"tag"]`,
  () => `"breadcrumbs":[${'{"message":"crumb"},'.repeat(20_000)}{}]`,
  () => `"${'k'.repeat(400_000)}":1`,
  () => `"big":${'9'.repeat(400_000)}`,
  () => `"req":{"method":"GET","url":"/${'€'.repeat(80_000)}"}`,
  () => `"err":{"type":"AggregateError","message":"m","stack":"s","aggregateErrors":[${part.repeat(20_000)}{}]}`,
]

/** Each large or deep line once. */
export function* largeLines(): Generator<string> {
  for (const members of LARGE) yield `{${HEAD},${members()},"msg":"large"}`
  yield '{"a":'.repeat(20_000)
  yield '['.repeat(200_000)
  yield 'plain text '.repeat(100_000)
  yield '€'.repeat(500_000)
}

/** `count` lines, with the large ones first if they are wanted. */
export function* hostileLines(count: number, seed: number, { isLargeWanted = true } = {}): Generator<string> {
  const large = isLargeWanted ? [...largeLines()] : []
  yield* large
  yield* fc.sample(line, { numRuns: count - large.length, seed })
}
