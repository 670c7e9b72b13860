/** Unusual and malformed lines, deterministic for a seed. None contains a newline. */

/** mulberry32, a generator with 32 bits of state. */
class Dice {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** An integer from 0 to `sides` - 1. */
  roll(sides: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) % sides
  }

  pick<T>(list: readonly T[]): T {
    return list[this.roll(list.length)] as T
  }

  times<T>(most: number, make: () => T): T[] {
    return Array.from({ length: this.roll(most + 1) }, make)
  }
}

/** Keys and values are JSON text, so escapes can be written in every form. */
const KEYS = [
  'level',
  'time',
  'msg',
  'message',
  'err',
  'error',
  'req',
  'res',
  'request',
  'response',
  'responseTime',
  'reqId',
  'request_id',
  'requestId',
  'name',
  'pid',
  'hostname',
  'service',
  'environment',
  'env',
  'version',
  'user',
  'user_id',
  'userId',
  'session_id',
  'sessionId',
  'release_id',
  'releaseId',
  'action',
  'source',
  'caller',
  'fingerprint',
  'trace',
  'trace_id',
  'traceId',
  'span_id',
  'spanId',
  'parent_span_id',
  'parentSpanId',
  'dd',
  'perf',
  'duration_ms',
  'memory_mb',
  'db_queries',
  'cache_hits',
  'deploy',
  'breadcrumbs',
  'tags',
  'notify',
  'notify_channels',
  'notifyChannels',
  'metadata',
  'severity',
  '@timestamp',
  'timestamp',
  'stack',
  'type',
  'event_id',
  'pino_ingest',
  'id',
  'email',
  'method',
  'url',
  'path',
  'headers',
  'user-agent',
  'traceparent',
  'body',
  'statusCode',
  'status_code',
  'remoteAddress',
  'cause',
  'aggregateErrors',
  'errors',
  'code',
  'commit',
  'branch',
  'category',
  'data',
  'a',
  'b',
  'c',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'toJSON',
  '',
  ' ',
  '0',
  '1',
  '-1',
  'length',
  '\\u006cevel',
  'le\\u0076el',
  '\\u0074ime',
  'm\\u0073g',
  'st\\u0061ck',
  '\\u005f_proto__',
  'le\\u0000vel',
  '\\u0000',
  'a\\u0000',
  'a_',
  'q\\"uote',
  'new\\nline',
  'tab\\t',
  'back\\\\slash',
  'sla\\/sh',
  '\\ud800',
  '\\udc00',
  '\\ud83d\\ude00',
  'é',
  '日本語',
  '\u2028',
  '\ud800',
]

const TEXTS = [
  '',
  ' ',
  'hello',
  'WARN',
  'audit',
  'fatal',
  'GET',
  '/a/b?c=d#e',
  '/\\u0000',
  'http://h:1/p?q',
  '//',
  '?',
  '*',
  '30',
  '-1',
  '1e400',
  'NaN',
  'true',
  'null',
  '2026-11-21T00:08:52.496Z',
  '2026-11-21T00:08:52.496673786+05:30',
  '2026-13-45',
  '2026-02-30T25:61:61Z',
  '0000-00-00',
  '9999-12-31T23:59:59.999Z',
  '1795219732486',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '00-00000000000000000000000000000000-0000000000000000-00',
  'Bearer token',
  'Error: x\\n    at f (/app/a.js:1:2)',
  'Error: x\\n    at C:\\\\app\\\\a.js:1:2',
  'Error\\n    at ((((((((((((((((((',
  'at at at :1:1',
  '\\n\\n\\n',
  '\\u0000',
  'a\\u0000b',
  '\\ud800',
  '\\udfff\\ud800',
  '\\ud83d\\ude00',
  '\\u001b[31mred\\u001b[0m',
  '\\b\\f\\n\\r\\t\\"\\\\\\/',
  '\\u2028',
  '\u2029',
  '\ud83d\ude00',
  '\udead',
  '[Circular]',
  '[Redacted]',
  '{\\"a\\":1}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '\ufeff',
  '\u202e',
  '\u007f',
]

const NUMBERS = [
  '0',
  '-0',
  '1',
  '-1',
  '10',
  '20',
  '25',
  '30',
  '35',
  '40',
  '50',
  '60',
  '70',
  '1e3',
  '1E+2',
  '1e-7',
  '1.0',
  '0.1',
  '-0.5',
  '99.999999999999999999',
  '1e308',
  '1e400',
  '-1e400',
  '5e-324',
  '1e-400',
  '9007199254740991',
  '9007199254740993',
  '12345678901234567890',
  `-${'9'.repeat(400)}`,
  '1795219732',
  '1795219732486',
  '1795219732486123',
  '1795219732486123456',
  '1795219732.486',
  '-62135596800001',
  '253402300800000',
  '8640000000000001',
  '1e18',
  '4294967296',
]

/** Almost valid JSON with one small mistake. */
const BAD_VALUES = [
  '01',
  '1.',
  '.5',
  '+1',
  '-',
  '1e',
  '0x1f',
  'NaN',
  'Infinity',
  '-Infinity',
  'undefined',
  'True',
  'nul',
  'truefalse',
  "'x'",
  '"',
  '"\\x41"',
  '"\\u12"',
  '"\\"',
  '"\u0001"',
  '"a\tb"',
  '"a\u0000b"',
  '[1,]',
  '[,]',
  '{"a":}',
  '{"a"}',
  '{,}',
  '{"a":1,}',
  '{a:1}',
  '[1 2]',
  ']',
  '}',
  '1 2',
  '/* c */ 1',
]

const PLAIN_LINES = [
  'Server listening on 3000',
  'null',
  'true',
  '5',
  '-',
  '"text"',
  '[]',
  '[1,2]',
  '{',
  '}',
  '{}',
  ' {} ',
  '[',
  'undefined',
  '\u0000',
  '\u0001\u0002',
  '\ud800',
  '\u001b[31mred\u001b[0m',
  '{"a":1}{"b":2}',
  '{"a":1},',
  '\ufeff{"level":30}',
  '   ',
  '\t',
  '\\',
  '\\\\',
  '"',
  '{"',
  '{"\\',
  '{"a',
  '{"a"',
  '{"a":',
  '{"a":"',
  '{"a":"\\',
  '{"a":1',
  '{"a":1,',
  '\r\r',
  'TypeError: x is not a function',
  '    at Object.<anonymous> (/app/a.js:1:2)',
  'ts=2026-11-21 level=info msg="logfmt"',
  '<34>1 2026-11-21T00:00:00Z host app - - - syslog',
  '127.0.0.1 - - [21/Nov/2026:00:00:00 +0000] "GET / HTTP/1.1" 200 5',
]

const OTHER_LOGGERS = [
  '{"name":"myapp","hostname":"vm","pid":1,"level":50,"err":{"message":"boom","name":"TypeError","stack":"TypeError: boom\\n    at f (/app/a.js:1:2)"},"msg":"boom","time":"2026-11-21T00:08:52.496Z","v":0}',
  '{"level":"error","message":"boom","stack":"Error: boom\\n    at f (/app/a.js:1:2)","timestamp":"2026-11-21T00:08:52.496Z"}',
  '{"@timestamp":"2026-11-21T00:08:52.496Z","log.level":"info","message":"ecs","ecs":{"version":"1.6.0"},"service":{"name":"x"}}',
  '{"severity":"ERROR","message":"gcp","logging.googleapis.com/trace":"projects/p/traces/t","httpRequest":{"requestMethod":"GET"}}',
  '{"level":"info","ts":1795219732.4867,"caller":"main.go:12","msg":"zap"}',
  '{"L":"INFO","T":"2026","M":"x"}',
  '{"level":"warning","event":"structlog","timestamp":"2026-11-21T00:08:52.496673Z"}',
]

function value(dice: Dice, depth: number): string {
  const kind = dice.roll(depth > 4 ? 6 : 10)
  if (kind < 3) return `"${dice.pick(TEXTS)}"`
  if (kind < 5) return dice.pick(NUMBERS)
  if (kind < 6) return dice.pick(['true', 'false', 'null'])
  if (kind < 9) return `{${dice.times(6, () => `"${dice.pick(KEYS)}":${value(dice, depth + 1)}`).join(',')}}`
  return `[${dice.times(5, () => value(dice, depth + 1)).join(',')}]`
}

function members(dice: Dice, most: number): string[] {
  return dice.times(most, () => `"${dice.pick(KEYS)}":${value(dice, 0)}`)
}

/** As pino writes: its own level and time come first. */
function pinoLine(dice: Dice): string {
  const head = [
    `"level":${dice.pick(['30', '50', '20', '35', '"info"'])}`,
    `"time":${dice.pick(['1795219732486', '1795219733001', '"2026-11-21T00:08:52.496Z"'])}`,
  ]
  return `{${[...head, ...members(dice, 10), `"msg":"${dice.pick(TEXTS)}"`].join(',')}}`
}

function looseLine(dice: Dice): string {
  const space = dice.pick(['', '', ' ', '\t', '  '])
  return `${space}{${space}${members(dice, 14).join(`${space},${space}`)}${space}}${space}`
}

function forged(dice: Dice): string {
  const key = dice.pick(['level', '\\u006cevel', 'le\\u0076el', '\\u006c\\u0065\\u0076\\u0065\\u006c'])
  const time = dice.pick(['time', '\\u0074ime', 'tim\\u0065'])
  return `{"level":20,"time":1795219732486,"${key}":60,"${time}":"1999-01-01T00:00:00.000Z","x":${value(dice, 3)},"msg":"forged"}`
}

function damaged(dice: Dice): string {
  const line = pinoLine(dice)
  const at = dice.roll(line.length)
  switch (dice.roll(4)) {
    case 0:
      return line.slice(0, Math.max(at, 1))
    case 1:
      return (
        line.slice(0, at) +
        dice.pick(['"', '\\', '{', '}', '[', ']', ',', ':', '\u0000', '\u0007', '\t', '\ud800', '\udc00', 'x', '0']) +
        line.slice(at)
      )
    case 2:
      return line.slice(0, at) + line.slice(at + 1)
    default:
      return `{"level":30,"time":1795219732486,"x":${dice.pick(BAD_VALUES)},"msg":"bad"}`
  }
}

/** Each occurs once per run: large or deep lines that would take a quadratic mapper minutes. */
const MONSTERS: readonly (() => string)[] = [
  () => `{"level":30,"time":1795219732486,"a":${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)},"msg":"deep object"}`,
  () => `{"level":30,"time":1795219732486,"a":${'['.repeat(20_000)}${']'.repeat(20_000)},"msg":"deep array"}`,
  () =>
    `{"level":50,"time":1795219732486,"err":${'{"type":"E","message":"m","stack":"s","cause":'.repeat(20_000)}null${'}'.repeat(20_000)},"msg":"deep cause"}`,
  () => '{"a":'.repeat(20_000),
  () => '['.repeat(200_000),
  () => `{"level":30,"time":1795219732486,"msg":"${'x'.repeat(5_000_000)}"}`,
  () => `{"level":30,"time":1795219732486,"msg":"${'\\ud83d\\ude00'.repeat(400_000)}"}`,
  () =>
    `{"level":50,"time":1795219732486,"err":{"type":"E","message":"m","stack":"${'\\n    at f (/app/a.js:1:2)'.repeat(200_000)}"},"msg":"long stack"}`,
  () => 'plain text '.repeat(450_000),
  () => '€'.repeat(2_000_000),
  () =>
    `{"level":30,"time":1795219732486,${Array.from({ length: 2_000 }, (_, i) => `"k${i}":${i}`).join(',')},"msg":"wide record"}`,
  () =>
    `{"level":30,"time":1795219732486,${Array.from({ length: 2_000 }, (_, i) => `"${i}":${i}`).join(',')},"msg":"wide list"}`,
  () =>
    `{"level":30,"time":1795219732486,"a":{${Array.from({ length: 2_000 }, (_, i) => `"k${i}":${i}`).join(',')}},"msg":"wide object"}`,
  () => `{"level":30,"time":1795219732486,"a":[${'1,'.repeat(500_000)}1],"msg":"long list"}`,
  () => `{"level":30,"time":1795219732486,"pino_ingest":{"a":[${'1,'.repeat(500_000)}1]},"msg":"our own key"}`,
  () => `{"level":30,"time":1795219732486,"tags":[${'"tag",'.repeat(200_000)}"tag"],"msg":"many tags"}`,
  () =>
    `{"level":30,"time":1795219732486,"breadcrumbs":[${'{"message":"crumb"},'.repeat(50_000)}{}],"msg":"many crumbs"}`,
  () => `{"level":30,"time":1795219732486,"${'k'.repeat(1_000_000)}":1,"msg":"long key"}`,
  () => `{"level":30,"time":1795219732486,"big":${'9'.repeat(1_000_000)},"msg":"long number"}`,
  () => `{"level":30,"time":1795219732486,"req":{"method":"GET","url":"/${'€'.repeat(80_000)}"},"msg":"long url"}`,
  () =>
    `{"level":30,"time":1795219732486,${Array.from({ length: 1_000 }, (_, i) => `"\\ud${(0x800 + i).toString(16)}":1`).join(',')},"msg":"keys that become one"}`,
  () =>
    `{"level":50,"time":1795219732486,"err":{"type":"AggregateError","message":"m","stack":"s","aggregateErrors":[${'{"type":"E","message":"m","stack":"s"},'.repeat(50_000)}{}]},"msg":"many parts"}`,
]

/** `count` lines with the large ones spread among the small ones, or only the large ones. */
export function* hostileLines(count: number, seed: number, { isLargeWanted = true } = {}): Generator<string> {
  const dice = new Dice(seed)
  const stride = Math.max(Math.floor(count / MONSTERS.length), 1)
  for (let i = 0; i < count; i += 1) {
    const monster = isLargeWanted && i % stride === stride - 1 ? MONSTERS[Math.floor(i / stride)] : undefined
    yield monster ? monster() : smallLine(dice)
  }
}

function smallLine(dice: Dice): string {
  const kind = dice.roll(100)
  const line =
    kind < 45
      ? pinoLine(dice)
      : kind < 60
        ? looseLine(dice)
        : kind < 68
          ? forged(dice)
          : kind < 85
            ? damaged(dice)
            : kind < 95
              ? dice.pick(PLAIN_LINES)
              : dice.pick(OTHER_LOGGERS)
  return dice.roll(20) === 0 ? `${line}\r` : line
}
