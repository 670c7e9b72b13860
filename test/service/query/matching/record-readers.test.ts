/** The values of an entry's fields. */
import { describe, expect, it } from 'vitest'
import type { Json, LogEntry } from '../../../../src/protocol/log-entry.js'
import { FIELDS } from '../../../../src/service/query/language/fields.js'
import { readField } from '../../../../src/service/query/matching/record-readers.js'
import { compileEntryQuery } from '../../../../src/service/query/matching/compile-query.js'
import { indexEntry } from '../../../../src/service/store/indexed-record.js'
import { Runs } from '../../../../src/service/store/runs.js'
import { entryOf } from '../../support.js'
import { expectLinearTime } from '../../../linear-time.js'

const withMetadata = (metadata: Record<string, Json>) => ({
  id: 'e',
  seq: 1,
  received_at: '',
  batch_id: null,
  entry: entryOf({ metadata }),
})

/** Each value is in only one field. */
const complete: LogEntry = {
  level: 'warn',
  message: 'value-message',
  timestamp: '2026-01-31T08:00:00.000Z',
  service: 'value-service',
  environment: 'value-environment',
  version: 'value-version',
  user_id: 'value-user_id',
  user: { id: 'value-user.id', email: 'value-user.email', name: 'value-user.name' },
  metadata: { route: 'value-route', host: 'value-host', pid: 7, hostname: 'h' },
  tags: ['value-tag'],
  error: { type: 'value-error.type', message: 'value-error.message', stack: 'value-error.stack' },
  request: {
    method: 'value-method',
    url: 'value-url',
    path: 'value-path',
    status_code: 404,
    duration_ms: 31,
    ip: 'value-ip',
    user_agent: 'value-user_agent',
  },
  perf: { duration_ms: 41, memory_mb: 42, db_queries: 43, cache_hits: 44 },
  trace: { trace_id: 'value-trace_id', span_id: 'value-span_id', parent_span_id: 'value-parent_span_id' },
  deploy: { commit: 'value-deploy.commit', branch: 'value-deploy.branch', deployed_by: 'value-deploy.deployed_by' },
  breadcrumbs: [{ message: 'value-breadcrumbs' }],
  fingerprint: 'value-fingerprint',
  action: 'value-action',
  session_id: 'value-session_id',
  release_id: 'value-release_id',
  request_id: 'value-request_id',
  source: 'value-source',
  notify: true,
  notify_channels: ['value-notify_channels'],
}

/** Values of the fields in `complete` whose value is not `value-NAME`. */
const OTHER_VALUES: Readonly<Record<string, readonly string[]>> = {
  level: ['warn'],
  status: ['404'],
  duration: ['31'],
  user: ['value-user_id', 'value-user.id', 'value-user.email', 'value-user.name'],
  timestamp: ['2026-01-31T08:00:00.000Z'],
  error: ['value-error.type', 'value-error.message'],
  'perf.duration_ms': ['41'],
  'perf.memory_mb': ['42'],
  'perf.db_queries': ['43'],
  'perf.cache_hits': ['44'],
  notify: ['true'],
  received_at: ['2026-01-31T09:00:00.000Z'],
  id: ['value-id'],
  seq: ['77'],
  run: ['value-service-7@h'],
}

describe('every field has its own value, by each of its names', () => {
  const record = { id: 'value-id', seq: 77, received_at: '2026-01-31T09:00:00.000Z', batch_id: null, entry: complete }
  const names = Object.entries(FIELDS).flatMap(([name, { aliases = [] }]) =>
    [name, ...aliases].map((typed) => [typed, name] as const),
  )

  it.each(names)('%s', (typed, name) => {
    const values = OTHER_VALUES[name] ?? [`value-${name}`]
    const column = name === 'breadcrumbs' ? JSON.stringify([{ message: values[0] }]) : values.join(', ')
    expect(readField(record, typed)).toBe(column)
    const indexed = indexEntry(record)
    indexed.run = new Runs().add(complete, 0)
    const matches = (q: string): boolean => compileEntryQuery(`"${typed}":${q}`)(indexed)
    for (const value of values) {
      expect(matches(`"${value}"`), value).toBe(true)
      expect(matches(`/^${value.replaceAll('.', '\\.')}$/`), value).toBe(true)
    }
    expect(matches('*')).toBe(true)
  })
})

describe('a name with dots', () => {
  const nested = (names: readonly string[]): Json => names.reduceRight<Json>((inner, name) => ({ [name]: inner }), 7)

  it('is split at each of up to 20', () => {
    const names = Array.from({ length: 21 }, (_, n) => `n${n}`)
    expect(readField(withMetadata(nested(names) as Record<string, Json>), names.join('.'))).toBe('7')
  })

  it('is not split if it has more, and is read in linear time', () => {
    expectLinearTime(14_400, (length) => {
      const names = Array.from({ length }, () => `n`)
      return () => {
        expect(readField(withMetadata({ [names.join('.')]: 7 }), names.join('.'))).toBe('7')
        expect(readField(withMetadata({ n: { [names.slice(1).join('.')]: 7 } }), names.join('.'))).toBeUndefined()
      }
    })
  })
})
