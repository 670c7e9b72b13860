import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LEVELS } from '../../../src/protocol/log-entry.js'
import { validateEntry } from '../../../src/service/index.js'
import { entryOf } from '../support.js'

const FULL = entryOf({
  service: 's',
  environment: 'e',
  version: 'v',
  user_id: 'u',
  user: { id: '1', email: 'a@b', name: 'n' },
  metadata: { any: [1, 'x', null, { deep: true }], ['__proto__']: 1 },
  tags: ['a', 'b'],
  error: { type: 't', message: 'm', stack: 's' },
  request: { method: 'GET', url: '/a?b', path: '/a', status_code: 200, duration_ms: 1.5, ip: '::1', user_agent: 'x' },
  perf: { duration_ms: 1.5, memory_mb: 2, db_queries: 3, cache_hits: 0 },
  trace: { trace_id: 't', span_id: 's', parent_span_id: 'p' },
  deploy: { commit: 'c', branch: 'b', deployed_by: 'd' },
  breadcrumbs: [
    { type: 't', category: 'c', message: 'm', level: 'l', timestamp: '2026-01-31T08:00:00+02:00', data: {} },
  ],
  fingerprint: 'f',
  action: 'a',
  session_id: 's',
  release_id: 'r',
  request_id: 'r',
  source: 'a.js:1',
  notify: true,
  notify_channels: ['ops'],
})

const NOT_TEXT = [1, true, null, {}, ['x']]
const NOT_NUMBER = ['1', true, null, {}]
const WRONG: Record<'text' | 'number' | 'integer' | 'boolean' | 'list' | 'object', readonly unknown[]> = {
  text: NOT_TEXT,
  number: NOT_NUMBER,
  integer: [...NOT_NUMBER, 1.5],
  boolean: ['true', 1, null],
  list: ['x', null, { 0: 'x' }, 1],
  object: ['x', null, [], 1],
}
const FIELDS: Record<keyof typeof WRONG, readonly string[]> = {
  text: [
    ...['level', 'message', 'timestamp', 'service', 'environment', 'version', 'user_id', 'fingerprint'],
    ...['action', 'session_id', 'release_id', 'request_id', 'source', 'user.id', 'user.email', 'user.name'],
    ...['error.type', 'error.stack', 'request.method', 'request.path', 'request.user_agent', 'trace.trace_id'],
    ...['trace.parent_span_id', 'deploy.commit', 'tags.0', 'notify_channels.0', 'breadcrumbs.0.category'],
  ],
  number: ['request.duration_ms', 'perf.duration_ms', 'perf.memory_mb', 'perf.db_queries', 'perf.cache_hits'],
  integer: ['request.status_code'],
  boolean: ['notify'],
  list: ['tags', 'notify_channels', 'breadcrumbs'],
  object: ['user', 'error', 'request', 'perf', 'trace', 'deploy', 'metadata', 'breadcrumbs.0', 'breadcrumbs.0.data'],
}
const TYPES = {
  text: 'str',
  number: 'float',
  integer: 'integer',
  boolean: 'bool',
  list: 'list',
  object: 'dict',
} as const

/** Copies the full entry and replaces the value at `path`. */
function withValue(path: string, value: unknown): unknown {
  const copy = structuredClone(FULL)
  const names = path.split('.')
  const last = names.pop() as string
  const parent = names.reduce<Record<string, unknown>>((at, name) => at[name] as never, copy as never)
  parent[last] = value
  return copy
}

const locOf = (path: string): (string | number)[] =>
  path.split('.').map((name) => (/^\d+$/.test(name) ? Number(name) : name))

describe('a valid entry', () => {
  it('can have every field of the interface, or only the three required ones', () => {
    expect(validateEntry(FULL)).toEqual([])
    expect(validateEntry(entryOf())).toEqual([])
    for (const level of LEVELS) expect(validateEntry(entryOf({ level }))).toEqual([])
  })

  it('has a test for every field', () => {
    const tested = new Set(
      Object.values(FIELDS)
        .flat()
        .map((path) => path.split('.')[0]),
    )
    expect([...tested].toSorted()).toEqual(Object.keys(FULL).toSorted())
  })

  it.each(['2026-01-31T08:00:00Z', '2024-02-29T23:59:59.123456789Z', '2026-01-31T08:00:00.000+00:00'])(
    'takes %s',
    (timestamp) => {
      expect(validateEntry(entryOf({ timestamp }))).toEqual([])
    },
  )
})

describe('a schema problem', () => {
  const cases = Object.entries(FIELDS).flatMap(([type, paths]) =>
    paths.map((path) => [path, type as keyof typeof WRONG] as const),
  )
  it.each(cases)('%s of another type than %s', (path, type) => {
    for (const value of WRONG[type]) {
      const [problem, ...more] = validateEntry(withValue(path, value))
      expect(problem, JSON.stringify(value)).toMatchObject({
        kind: 'schema',
        loc: locOf(path),
        type: `type_error.${TYPES[type]}`,
      })
      expect(more).toEqual([])
    }
  })

  it.each(['level', 'message', 'timestamp'])('%s missing', (name) => {
    const { [name as 'level']: _gone, ...rest } = FULL
    expect(validateEntry(rest)).toEqual([
      { kind: 'schema', loc: [name], type: 'value_error.missing', message: 'field required' },
    ])
  })

  it.each(['extra', 'user.extra', 'error.code', 'request.headers', 'breadcrumbs.0.x', 'constructor'])(
    'an unknown field: %s',
    (path) => {
      const expected = { kind: 'schema', loc: locOf(path), type: 'value_error.extra' }
      expect(validateEntry(withValue(path, 'x'))).toEqual([expect.objectContaining(expected)])
    },
  )

  it('an own __proto__ field, which JSON can have', () => {
    const hostile = JSON.parse(`{"__proto__":1,${JSON.stringify(entryOf()).slice(1)}`)
    expect(validateEntry(hostile)).toEqual([expect.objectContaining({ loc: ['__proto__'], type: 'value_error.extra' })])
  })

  it('an entry that is not an object', () => {
    for (const value of ['x', 1, null, [], true])
      expect(validateEntry(value)[0]).toMatchObject({ type: 'type_error.dict', loc: [] })
  })

  it('names at most about 20 fields, and truncates long names', () => {
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`field${i}`.padEnd(5000, 'x'), 1]))
    const problems = validateEntry({ ...entryOf(), ...many })
    expect(problems.length).toBe(20)
    expect(String(problems[0]?.loc[0]).length).toBe(100)
  })
})

describe('a value problem', () => {
  it.each(['INFO', 'trace', 'warning', ''])('level %j', (level) => {
    expect(validateEntry({ ...FULL, level })).toEqual([expect.objectContaining({ kind: 'value', loc: ['level'] })])
  })

  it.each([
    ...['', '2026-01-31', '2026-01-31T08:00:00', '2026-01-31 08:00:00Z', '2026-02-30T08:00:00Z'],
    ...['2026-01-31T24:00:00Z', '2026-01-31T08:00:00+02:00', '1769846400000'],
  ])('timestamp %j', (timestamp) => {
    expect(validateEntry({ ...FULL, timestamp })).toEqual([
      expect.objectContaining({ kind: 'value', loc: ['timestamp'] }),
    ])
  })

  it.each([
    ['breadcrumbs.0.timestamp', 'noon'],
    ['message', 'a\0b'],
    ['metadata.any.1', '\udc00'],
    ['metadata.any.3.deep', 'a\0b'],
    ['perf.memory_mb', Infinity],
  ])('%s: %j', (path, value) => {
    expect(validateEntry(withValue(path, value))).toEqual([
      expect.objectContaining({ kind: 'value', loc: locOf(path) }),
    ])
  })

  it('a metadata key that is not well-formed, reported in well-formed text', () => {
    const [problem] = validateEntry({ ...FULL, metadata: { '\ud800': 1 } })
    expect(problem).toMatchObject({ kind: 'value', loc: ['metadata', '\ufffd'] })
  })

  it('metadata nested too deeply', () => {
    const deep = JSON.parse(`${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`)
    expect(validateEntry({ ...FULL, metadata: deep })[0]).toMatchObject({ kind: 'value' })
  })
})

it('validates any JSON without throwing, and accepts generated valid entries', () => {
  fc.assert(fc.property(fc.jsonValue(), (value) => Array.isArray(validateEntry(value))))
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.includes('\0') && value.isWellFormed())
  const entry = fc.record(
    {
      level: fc.constantFrom(...LEVELS),
      message: text,
      timestamp: fc
        .date({ noInvalidDate: true, min: new Date(0), max: new Date(2e12) })
        .map((date) => date.toISOString()),
      metadata: fc.dictionary(text, fc.oneof(text, fc.integer(), fc.array(fc.boolean()))),
      tags: fc.array(text),
      perf: fc.record({ duration_ms: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
    },
    { requiredKeys: ['level', 'message', 'timestamp'] },
  )
  fc.assert(fc.property(entry, (value) => validateEntry(JSON.parse(JSON.stringify(value))).length === 0))
})
