/** Versions: the list, new failures in the latest, and comparisons. */
import { describe, expect, it } from 'vitest'
import type { LogEntry } from '../../../src/protocol/log-entry.js'
import type { Feedback, RequestLog } from '../../../src/protocol/resources.js'
import type { ReleaseComparison } from '../../../src/service/query/api-types.js'
import { StoreReader } from '../../../src/service/store-reader.js'
import { Store } from '../../../src/service/store/store.js'
import { entryOf, requestLog } from '../support.js'

const START_MS = Date.parse('2026-01-31T08:00:00.000Z')
const iso = (second: number): string => new Date(START_MS + second * 1000).toISOString()

function open() {
  const store = new Store({ maxEntries: 1000, maxBytes: 1 << 24, onProblem: (message) => expect.unreachable(message) })
  let seq = 0
  const stored = (kind: string) => ({ id: `${kind}_${++seq}`, seq, received_at: iso(0) })
  return {
    reader: new StoreReader(store),
    log: (second: number, fields: Partial<LogEntry>) =>
      store.append(
        'entry',
        [{ ...stored('ent'), batch_id: null, entry: entryOf({ timestamp: iso(second), ...fields }) }],
        100,
      ),
    request: (second: number, fields: Partial<RequestLog>) =>
      store.append(
        'request',
        [{ ...stored('req'), request: { ...requestLog, timestamp: iso(second), ...fields } }],
        100,
      ),
    feedback: (feedback: Feedback) => store.append('feedback', [{ ...stored('fbk'), feedback }], 100),
    release: (release_id: string, version: string) =>
      store.append('release', [{ ...stored('rel'), release_id, release: { version } }], 100),
  }
}

const failure = (fingerprint: string, version: string, service = 'shop') =>
  ({ level: 'error', fingerprint, service, version }) as const

const listGroups = ({ groups }: ReleaseComparison) =>
  groups.map(({ fingerprint, change, before, after }) => [fingerprint, change, before, after])

it('lists the versions of each service, most recently introduced first', () => {
  const { reader, log, release } = open()
  log(30, { version: '1.0' })
  log(10, { version: '1.0', release_id: 'rel_old' })
  log(20, { service: 'pay', version: '2.0', release_id: 'rel_of_entry' })
  log(40, {})
  log(5, { service: 'pay', version: '1.0' })
  release('rel_registered', '2.0')
  expect(reader.versions({}).items).toEqual([
    {
      service: 'pay',
      version: '2.0',
      first_seen: iso(20),
      last_seen: iso(20),
      entries: 1,
      release_id: 'rel_registered',
    },
    { service: null, version: '1.0', first_seen: iso(10), last_seen: iso(30), entries: 2, release_id: 'rel_old' },
    { service: 'pay', version: '1.0', first_seen: iso(5), last_seen: iso(5), entries: 1, release_id: null },
  ])
  expect(reader.versions({ until: iso(11) }).items.map(({ version, entries }) => [version, entries])).toEqual([
    ['1.0', 1],
    ['1.0', 1],
  ])
})

describe('a group is new', () => {
  it('if its first entry has the latest version of its service, also if a filter hides the earlier entries', () => {
    const { reader, log } = open()
    log(1, failure('old', '1.0'))
    log(2, failure('old', '2.0'))
    log(3, failure('new', '2.0'))
    log(0, failure('of the only version', '7.0', 'pay'))
    const isNew = (filter = {}) =>
      Object.fromEntries(reader.errorGroups(filter).items.map((group) => [group.fingerprint, group.is_new]))
    expect(isNew()).toEqual({ old: false, new: true, 'of the only version': false })
    expect(isNew({ since: iso(2) })).toEqual({ old: false, new: true })
    log(4, { service: 'shop', version: '3.0' })
    expect(isNew()).toEqual({ old: false, new: false, 'of the only version': false })
  })
})

describe('the users of a group', () => {
  const identity = { trace: { trace_id: 't' } }
  const process = (pid: number) => ({ service: 'shop', request_id: '1', metadata: { pid, hostname: 'laptop' } })
  it.each<[string, Partial<LogEntry>, Partial<LogEntry>, string[]]>([
    ['are those of its entries', { user_id: 'u-1', ...identity }, { user_id: 'u-2', ...identity }, ['u-1']],
    ['are those of the same trace', identity, { user_id: 'u-2', ...identity }, ['u-2']],
    ['are not those of a trace with several', identity, { user_id: 'u-1,u-2', ...identity }, []],
    [
      'are those of the same request of a trace with several',
      { ...identity, ...process(1) },
      { user_id: 'u-1,u-2', ...identity, ...process(1) },
      ['u-2'],
    ],
    ['are those of the same request', process(1), { user: { id: 'u-2' }, ...process(1) }, ['u-2']],
    ['are not those of a request of another process', process(1), { user_id: 'u-2', ...process(2) }, []],
    ['are not those of another request', { request_id: '1' }, { user_id: 'u-2', request_id: '2' }, []],
    ['are those of its feedback', { metadata: { event_id: 'evt' } }, { user_id: 'u-2' }, ['jane@example.com']],
  ])('%s', (_, error, other, expected) => {
    const { reader, log, feedback } = open()
    log(1, { ...failure('f', '1.0'), ...error })
    for (const user_id of other.user_id?.split(',') ?? [undefined])
      log(2, { level: 'info', ...other, ...(user_id !== undefined && { user_id }) })
    feedback({ event_id: 'evt', comments: 'no', email: 'jane@example.com' })
    expect(reader.errorGroups({}).items[0]?.top_users.map(({ user }) => user)).toEqual(expected)
  })
})

describe('a comparison', () => {
  it('has errors, groups and routes', () => {
    const { reader, log, request } = open()
    log(0, { service: 'shop', version: '1.0' })
    log(1, failure('gone', '1.0'))
    log(2, failure('both', '1.0'))
    log(3, failure('gone', '1.0'))
    log(10, failure('both', '2.0'))
    log(11, failure('new', '2.0'))
    for (const [second, duration_ms, status_code] of [
      [1, 10, 200],
      [2, 20, 500],
      [3, 30, 200],
      [4, 40, 404],
    ] as const)
      request(second, { service: 'shop', route: '/orders', duration_ms, status_code })
    request(12, { service: 'shop', route: '/orders', duration_ms: 99, status_code: 503 })
    request(13, { service: 'shop', route: '/new', duration_ms: 5 })
    request(-1, { service: 'shop', route: '/orders', duration_ms: 7777 })
    request(12, { service: 'other', route: '/orders', duration_ms: 8888 })
    const compared = reader.compareReleases({ before: 'version:1.0', after: 'version:2.0' })
    expect(compared.before).toEqual({
      query: 'version:1.0',
      entries: 4,
      errors: 3,
      error_rate: 0.75,
      requests: 4,
      request_error_rate: 0.25,
      p95_ms: 40,
    })
    expect(compared.after).toEqual({
      query: 'version:2.0',
      entries: 2,
      errors: 2,
      error_rate: 1,
      requests: 2,
      request_error_rate: 0.5,
      p95_ms: 99,
    })
    expect(listGroups(compared)).toEqual([
      ['new', 'new', 0, 1],
      ['gone', 'gone', 2, 0],
    ])
    expect(compared.routes).toEqual([
      {
        service: 'shop',
        method: 'GET',
        route: '/orders',
        before: { count: 4, p95_ms: 40, error_rate: 0.25 },
        after: { count: 1, p95_ms: 99, error_rate: 1 },
      },
      { service: 'shop', method: 'GET', route: '/new', before: null, after: { count: 1, p95_ms: 5, error_rate: 0 } },
    ])
  })

  it('finds the version of a request by request id, else from the last entry of its service and environment', () => {
    const { reader, log, request } = open()
    log(0, { service: 'shop', environment: 'test', version: '1.0' })
    log(5, { service: 'shop', environment: 'test', version: '2.0' })
    log(5, { service: 'shop', environment: 'live', version: '3.0' })
    log(9, { service: 'shop', version: '1.0', request_id: 'slow' })
    log(9, { service: 'payments', version: '9.0', request_id: 'slow' })
    log(9, { service: 'payments', version: '9.0', request_id: 'b' })
    request(6, { service: 'shop', environment: 'test', request_id: 'slow' })
    request(6, { service: 'shop', environment: 'test', request_id: 'a' })
    request(6, { service: 'shop', environment: 'live', request_id: 'b' })
    request(4, { service: 'shop', environment: 'live', request_id: 'c' })
    const requests = (version: string) => {
      const query = `version:${version}`
      return reader.compareReleases({ before: query, after: query }).before.requests
    }
    expect(['1.0', '2.0', '3.0', '9.0'].map(requests)).toEqual([1, 1, 1, 0])
  })

  it('has errors that became more frequent before new and gone ones: at least five, and twice the rate', () => {
    const { reader, log } = open()
    const repeat = (count: number, fields: Partial<LogEntry>) => {
      for (let n = 0; n < count; n += 1) log(n, fields)
    }
    for (const [version, counts] of [
      ['1.0', { grown: 2, chance: 1, stable: 4, gone: 9, rest: 84 }],
      ['2.0', { grown: 5, chance: 4, stable: 7, new: 1, rest: 83 }],
    ] as const) {
      for (const [name, count] of Object.entries(counts))
        repeat(count, name === 'rest' ? { service: 'shop', version } : failure(name, version))
    }
    expect(listGroups(reader.compareReleases({ before: 'version:1.0', after: 'version:2.0' }))).toEqual([
      ['grown', 'increased', 2, 5],
      ['new', 'new', 0, 1],
      ['gone', 'gone', 9, 0],
    ])
  })
})
