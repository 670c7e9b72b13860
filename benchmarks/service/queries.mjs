/** Every query that the service answers, as the page and the command line ask them. */
import { RELEASES, traceId } from './records.mjs'

/**
 * @typedef {import('../../src/service/query/store-reader.js').Reader} Reader
 * @typedef {import('../../src/service/store/store.js').Store} Store
 * @typedef {{ name: string, ask: (reader: Reader, store: Store) => unknown }} Query
 */

const LATE = '2026-11-21T11:30:00Z'
const ABSENT = 'no-such-value'

/** @type {Readonly<Record<string, import('../../src/service/query/query-filters.js').EntryFilter>>} */
const FILTERS = {
  none: {},
  level: { level: ['error', 'fatal'] },
  service: { service: 'service-7' },
  environment: { environment: 'staging' },
  version: { version: '1.7.0' },
  release_id: { release_id: RELEASES[7] ?? '' },
  trace_id: { trace_id: traceId(77) },
  request_id: { request_id: 'req-77777' },
  tag: { tag: 'tag-7' },
  'fingerprint, of nothing': { fingerprint: ABSENT },
  'service, of nothing': { service: ABSENT },
  'tag, of nothing': { tag: ABSENT },
  since: { since: LATE },
  until: { until: '2026-11-21T06:30:00Z' },
  text: { q: 'declined by' },
  'text that is nowhere': { q: 'xyzzy, nowhere' },
  'text of one letter that is nowhere': { q: '¤' },
  'text, service and time': { q: 'xyzzy', service: 'service-7', since: LATE },
}

const FIELDS = /** @type {const} */ (['service', 'environment', 'version', 'release_id', 'tag'])
const GROUP_FILTERS = ['none', 'service', 'level', 'text', 'tag', 'since', 'text that is nowhere']

/** @param {string} what @param {(filter: import('../../src/service/query/query-filters.js').EntryFilter) => (reader: Reader, store: Store) => unknown} ask @param {readonly string[]} [of] @returns {Query[]} */
function filtered(what, ask, of = Object.keys(FILTERS)) {
  return of.map((name) => ({ name: `${what}, filter ${name}`, ask: ask(FILTERS[name] ?? {}) }))
}

/** @type {readonly Query[]} */
export const QUERIES = [
  ...filtered('entries', (filter) => (reader) => reader.entries(filter)),
  ...filtered('1,000 summaries', (filter) => (reader) => reader.summaries({ ...filter, limit: 1000 }), [
    'none',
    'level',
    'text',
  ]),
  ...filtered('counts', (filter) => (reader) => reader.counts(filter)),
  ...filtered('histogram', (filter) => (reader) => reader.histogram(filter)),
  ...FIELDS.flatMap((field) =>
    filtered(`values of ${field}`, (filter) => (reader) => reader.values(field, filter), [
      'none',
      'level',
      'service',
      'text',
    ]),
  ),
  ...filtered('error groups', (filter) => (reader) => reader.errorGroups(filter), GROUP_FILTERS),
  { name: 'routes', ask: (reader) => reader.routes({}) },
  { name: 'routes, of a service', ask: (reader) => reader.routes({ service: 'service-7' }) },
  { name: 'routes, since', ask: (reader) => reader.routes({ since: LATE }) },
  { name: 'latency of a route', ask: (reader) => reader.routeLatency({ method: 'GET', route: '/api/orders/:id' }) },
  {
    name: 'latency of a route, since',
    ask: (reader) => reader.routeLatency({ method: 'GET', route: '/api/orders/:id', since: LATE }),
  },
  { name: 'release health', ask: (reader) => reader.releaseHealth({}) },
  { name: 'monitors', ask: (reader) => reader.monitors() },
  { name: 'entry', ask: (reader) => reader.entry(reader.entries({ limit: 1 }).items[0]?.id ?? '') },
  { name: 'entry of an event', ask: (reader) => reader.entry('evt_77') },
  { name: 'entry of an event that is nowhere', ask: (reader) => reader.entry(ABSENT) },
  { name: 'entries after', ask: (reader, store) => reader.entriesAfter(store.lastSeq - 3000, {}, 2000) },
  { name: 'entries after the first', ask: (reader) => reader.entriesAfter(1, {}, 2000) },
  {
    name: 'entries after the first, text that is nowhere',
    ask: (reader) => reader.entriesAfter(1, { q: 'xyzzy' }, 2000),
  },
  { name: 'page of request logs', ask: (reader) => reader.list('request', {}) },
  { name: 'record counts', ask: (reader) => reader.recordCounts() },
]
