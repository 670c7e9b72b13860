/** The application's hook: what it may do to an entry. An entry is sent even if the hook fails. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BeforeSendHook } from '../../src/filter/before-send-hook.js'
import type { BeforeSendHookOptions } from '../../src/filter/before-send-hook.js'
import type { HookFunction } from '../../src/filter/load-hook.js'
import { LEVELS } from '../../src/protocol/log-entry.js'
import type { JsonObject, LogEntry } from '../../src/protocol/log-entry.js'
import { Mapper } from '../../src/record/mapper.js'
import { parseExact, stringifyExact } from '../../src/shared/exact-json.js'
import { validateEntry } from '../../src/service/index.js'
import { RECEIVED_AT, anyLine, corpus, createMappingOptions } from '../record/record-lines.js'
import { faults } from '../record/valid-entry.js'
import { modelRuns } from '../model-runs.js'
import { Redactor } from '../../src/redaction/redactor.js'
import { mapLine } from '../record/map-line.js'

const MAX_ENTRY_BYTES = 256 * 1024
const ENTRY: LogEntry = {
  level: 'error',
  message: 'pay',
  timestamp: '2026-11-21T12:00:00.000Z',
  user: { id: 'u', email: 'a@b.c' },
  metadata: { pid: 1, nested: { list: [1, 2] } },
}
const JSON_OF_ENTRY = JSON.stringify(ENTRY)
/** As pino writes a BigInt; as a double it would become 12345678901234567000. */
const LONG =
  '{"level":"info","message":"m","timestamp":"2026-11-21T12:00:00.000Z","metadata":{"id":12345678901234567890,"all":[9007199254740993,1],"n":5}}'

/** A hook is JavaScript, and may return anything. */
function run(
  hook: (entry: LogEntry) => unknown,
  json = JSON_OF_ENTRY,
  more: Partial<BeforeSendHookOptions> = {},
): { result: ReturnType<BeforeSendHook['apply']>; problems: string[]; json: string } {
  const problems: string[] = []
  const it = new BeforeSendHook({
    hook: hook as HookFunction,
    onProblem: (message) => problems.push(message),
    maxEntryBytes: MAX_ENTRY_BYTES,
    redactor: new Redactor({ patterns: [], keys: [] }),
    isValid: (entry) => validateEntry(entry).map(({ loc, message }) => `${loc.join('.')}: ${message}`)[0],
    ...more,
  })
  const result = it.apply(json)
  return { result, problems, json: result === 'drop' ? '' : result.json }
}

describe('a hook', () => {
  test('that returns the entry does not change it', () => {
    expect(run((entry) => entry)).toMatchObject({ result: { json: JSON_OF_ENTRY }, problems: [] })
  })

  test('cannot add a secret header', () => {
    const { json } = run((entry) => ({
      ...entry,
      message: 'sent Cookie: a=secret',
      metadata: { headers: { authorization: 'secret' } },
    }))
    expect(JSON.parse(json)).toEqual({
      ...ENTRY,
      message: 'sent Cookie: [removed]',
      metadata: { pino_ingest: { removed_headers: 2 }, headers: {} },
    })
  })

  test('may change the entry, or return another one', () => {
    const changed = run((entry) => {
      delete entry.user
      entry.tags = ['seen']
      return entry
    })
    const { user: _, ...rest } = ENTRY
    expect(JSON.parse(changed.json)).toEqual({ ...rest, tags: ['seen'] })
    const other = run((entry) => ({ ...entry, message: 'other', level: 'fatal' }))
    expect(JSON.parse(other.json)).toEqual({ ...ENTRY, message: 'other', level: 'fatal' })
    expect(other.result).toMatchObject({ severity: 4 })
    expect([changed.problems, other.problems]).toEqual([[], []])
  })

  test.each(LEVELS.map((level, severity) => [level, severity] as const))(
    'that sets the level %s sets severity %d',
    (level, severity) => {
      expect(run((entry) => ({ ...entry, level, tags: ['x'] })).result).toMatchObject({ severity })
    },
  )

  test('drops the entry with null only', () => {
    expect(run(() => null)).toMatchObject({ result: 'drop', problems: [] })
    for (const nothing of [undefined, false, 0, '', Number.NaN]) expect(run(() => nothing).json).toBe(JSON_OF_ENTRY)
  })

  test('is validated by the JSON of its entry', () => {
    const { json, problems } = run((entry) => ({
      ...entry,
      timestamp: new Date(0),
      service: undefined,
      metadata: { at: new Date(0), odd: Number.NaN },
    }))
    expect(problems).toEqual([])
    expect(JSON.parse(json)).toEqual({
      ...ENTRY,
      timestamp: '1970-01-01T00:00:00.000Z',
      metadata: { at: '1970-01-01T00:00:00.000Z', odd: null },
    })
  })
})

describe('a failing hook is reported, and the entry is sent unchanged:', () => {
  const circle: Record<string, unknown> = {}
  circle['self'] = circle
  const throws = (thrown: unknown) => (): never => {
    throw thrown // oxlint-disable-line no-throw-literal
  }
  const noText = { toString: throws(new Error('no')) }

  test.each<[string, (entry: LogEntry) => unknown, RegExp]>([
    ['an exception', throws(new TypeError('no user\nsecond line')), /threw TypeError: no user;/],
    ['a thrown value that is not an error', throws('plain'), /threw plain;/],
    ['a thrown value that is not text', throws(noText), /threw a value that cannot be converted to a string;/],
    ['an error with control characters', throws(new Error('a\u001b[2Jb\u2028c')), /threw Error: a \[2Jb c;/],
    ['a long message', throws(new Error('x'.repeat(10_000))), /threw Error: x{292}…;/],
    ['a missing return', () => {}, /undefined/],
    ['a promise', async (entry) => entry, /promise/],
    ['a rejected promise', async () => throws(new Error('late'))(), /promise/],
    ['text', () => 'x', /a string instead/],
    ['true', () => true, /a boolean instead/],
    ['a function', () => () => {}, /a function instead/],
    ['a list', (entry) => [entry], /an array instead/],
    ['a Date', () => new Date(0), /"1970-01-01T00:00:00.000Z" in JSON/],
    ['a toJSON that returns undefined', () => ({ toJSON: () => {} }), /nothing in JSON/],
    ['a BigInt', (entry) => ({ ...entry, metadata: { n: 1n } }), /JSON: TypeError: .*BigInt/],
    ['a circle', (entry) => ({ ...entry, metadata: circle }), /JSON: TypeError: .*circular/],
    ['a toJSON that throws', () => ({ toJSON: throws(new Error('no JSON')) }), /JSON: Error: no JSON;/],
    ['a wrong level', (entry) => ({ ...entry, level: 'loud' }), /invalid entry: level: /],
    ['a missing message', (entry) => ({ ...entry, message: undefined }), /invalid entry: message: /],
    ['metadata that is text', (entry) => ({ ...entry, metadata: 'x' }), /invalid entry: metadata: /],
    ['NaN', (entry) => ({ ...entry, perf: { memory_mb: Number.NaN } }), /invalid entry: perf/],
    ['an empty object', () => ({}), /invalid entry: /],
  ])('%s', (_, hook, problem) => {
    const { json, problems } = run(hook)
    expect(json).toBe(JSON_OF_ENTRY)
    expect(problems).toEqual([expect.stringMatching(problem)])
    expect(problems[0]).toMatch(/^beforeSend .*; the entry is sent unchanged$/)
  })

  test('even if it changed the object before it failed', () => {
    const { json } = run((entry) => {
      entry.message = 'half done'
      delete entry.metadata
      throw new Error('then this')
    })
    expect(json).toBe(JSON_OF_ENTRY)
  })

  test('even if an object is nested too deeply for recursion', () => {
    const { json, problems } = run((entry) => {
      let deep: JsonObject = {}
      for (let depth = 0; depth < 200_000; depth += 1) deep = { deep }
      return { ...entry, metadata: deep }
    })
    expect(json).toBe(JSON_OF_ENTRY)
    expect(problems).toHaveLength(1)
  })
})

describe('values added by a hook are sanitized:', () => {
  test('NUL and lone surrogates', () => {
    const { json, problems } = run((entry) => ({ ...entry, message: 'a\0b\ud800', metadata: { 'k\0': '\udc00' } }))
    expect(problems).toEqual([])
    expect(JSON.parse(json)).toMatchObject({ message: 'ab\ufffd', metadata: { k: '\ufffd' } })
    expect(faults(json, MAX_ENTRY_BYTES)).toEqual([])
  })

  test('depth', () => {
    const { json, problems } = run((entry) => {
      let deep: JsonObject = {}
      for (let depth = 0; depth < 100; depth += 1) deep = { deep }
      return { ...entry, metadata: { deep } }
    })
    expect(problems).toEqual([])
    expect(faults(json, MAX_ENTRY_BYTES)).toEqual([])
    expect(JSON.parse(json)).toMatchObject({ metadata: { pino_ingest: { cut_for_depth: 1 } } })
  })

  test('length', () => {
    const { json, problems } = run((entry) => ({ ...entry, metadata: { text: 'x'.repeat(300_000) } }), JSON_OF_ENTRY, {
      maxEntryBytes: 4_096,
    })
    expect(problems).toEqual([])
    expect(faults(json, 4_096)).toEqual([])
    expect(JSON.parse(json)).toMatchObject({
      message: 'pay',
      metadata: { pino_ingest: { shortened_from_bytes: expect.any(Number) } },
    })
  })

  test('keys of the prototype', () => {
    const json =
      '{"level":"info","message":"m","timestamp":"2026-11-21T12:00:00.000Z","metadata":{"__proto__":{"a":1},"constructor":2}}'
    expect(
      run((entry) => {
        entry.message = 'n'
        return entry
      }, json).json,
    ).toBe(json.replace('"m"', '"n"'))
  })
})

describe('integers beyond a double', () => {
  test('are kept if the hook did not change them', () => {
    expect(run((entry) => entry, LONG)).toMatchObject({ json: LONG, problems: [] })
    const { json } = run((entry) => {
      entry.tags = ['x']
      return entry
    }, LONG)
    expect(json).toBe(`${LONG.slice(0, -1).replace(',"metadata"', ',"tags":["x"],"metadata"')}}`)
  })

  test('are numbers in the hook, and its new values are used', () => {
    const { json } = run((entry) => {
      expect(entry.metadata?.['id']).toBe(Number('12345678901234567890'))
      return { ...entry, metadata: { ...entry.metadata, id: 7, all: 'none' } }
    }, LONG)
    expect(JSON.parse(json)).toMatchObject({ metadata: { id: 7, all: 'none', n: 5 } })
  })
})

test('every entry of the mapper is kept completely, changed or not', () => {
  const mapper = new Mapper(createMappingOptions(), -1, () => Date.parse(RECEIVED_AT))
  const same = (line: string): void => {
    const before = mapLine(mapper, line).json
    const untouched = run((entry) => entry, before)
    const touched = run((entry) => ({ ...entry, session_id: 'hooked' }), before)
    expect([untouched.problems, touched.problems]).toEqual([[], []])
    expect(JSON.parse(untouched.json)).toEqual(JSON.parse(before))
    expect(longNumbers(touched.json)).toEqual(longNumbers(stringifyExact(parseExact(before))))
    expect(JSON.parse(touched.json)).toEqual({ ...(JSON.parse(before) as LogEntry), session_id: 'hooked' })
    expect(faults(touched.json, MAX_ENTRY_BYTES)).toEqual([])
  }
  for (const { raw } of corpus) same(raw)
  fc.assert(fc.property(anyLine, same), { numRuns: modelRuns(50, 2_000) })
})

function longNumbers(json: string): string[] {
  return (json.replace(/"(?:[^"\\]|\\.)*"/g, '""').match(/(?<![\d.])\d{17,}(?![\d.eE])/g) ?? []).toSorted()
}
