/** Every query of the service, as the page and the command line send them. */
import { RELEASES, traceId } from './records.mjs'

/**
 * @typedef {import('../../src/service/store-reader.js').StoreReader} Reader
 * @typedef {import('../../src/service/store/store.js').Store} Store
 * @typedef {import('../../src/service/query/query-filters.js').EntryFilter} EntryFilter
 * @typedef {{ name: string, what: string, form: string, ask: (reader: Reader, store: Store) => unknown }} Query
 *   `what` is the query, `form` its form; `name` has both
 */

const LATE = '2026-11-21T11:30:00Z'
const EARLY = '2026-11-21T06:30:00Z'

/** The forms of the query language and of the parameters. @type {Readonly<Record<string, EntryFilter>>} */
const FORMS = {
  none: {},
  'a word': { q: 'declined' },
  'a word that is nowhere': { q: 'xyzzy' },
  'one letter that is nowhere': { q: '¤' },
  'three words': { q: 'cannot charge declined' },
  'a phrase': { q: '"declined by"' },
  'a regular expression': { q: '/declined by "issuer \\d+"/' },
  'a regular expression, any case': { q: '/DECLINED by "issuer [0-9]"/i' },
  'a regular expression that is nowhere': { q: '/xyz+y \\d/' },
  'a regular expression without a literal': { q: '/[0-9]{7,}-[a-f]{9}/' },
  field: { q: 'service:service-7' },
  'field, several values': { q: 'level:(error,fatal)' },
  'field, excluded': { q: '-service:service-7' },
  'field, wildcard': { q: 'path:/api/orders/*' },
  'field, regular expression': { q: 'error.message:/issuer \\d+/' },
  'field, present': { q: 'user:*' },
  'field of the error': { q: 'error:GatewayError' },
  'field of the metadata': { q: 'order_id:101017' },
  'path of the metadata': { q: 'metadata.headers.accept:application/json' },
  'a number': { q: 'status:>=500' },
  'a range': { q: 'duration:100..200' },
  'a time': { q: `time:>=${LATE}` },
  'a level from': { q: 'level:>=warn' },
  'a user': { q: 'user:user-42' },
  'OR in brackets': { q: '(service:service-7 OR status:>=500) -level:debug' },
  'words, fields and time': { q: 'declined service:service-7 -level:fatal', since: LATE },
  since: { since: LATE },
  until: { until: EARLY },
  'parameter service': { service: 'service-7' },
  'parameter trace_id': { trace_id: traceId(77) },
  'parameter tag, of nothing': { tag: 'no-such-value' },
}

const SOME_FORMS = ['none', 'a word', 'a word that is nowhere', 'field', 'since']
/**
 * Filters of request logs. @type {Readonly<Record<string,
 * import('../../src/service/query/query-filters.js').RequestFilter>>}
 */
const REQUEST_FORMS = {
  none: {},
  'parameter service': { service: 'service-7' },
  since: { since: LATE },
  'a number': { q: 'status:>=500' },
  'a range': { q: 'duration:100..200 method:GET' },
}
const VERSIONS = { before: 'version:1.7.0', after: 'version:1.8.0' }

/**
 * @template F
 * @param {string} what
 * @param {Readonly<Record<string, F>>} forms
 * @param {(filter: F) => (reader: Reader, store: Store) => unknown} ask
 * @param {readonly string[]} [of]
 * @returns {Query[]}
 */
function each(what, forms, ask, of = Object.keys(forms)) {
  return of.map((form) => ({ name: `${what}: ${form}`, what, form, ask: ask(/** @type {F} */ (forms[form])) }))
}

/** @param {string} what @param {Query['ask']} ask @returns {Query} */
function one(what, ask) {
  return { name: what, what, form: '', ask }
}

/** The queries that are measured in every form. */
export const COLUMNS = /** @type {const} */ (['list', 'counts', 'histogram', 'groups'])

/** @type {readonly Query[]} */
export const QUERIES = [
  ...each('list', FORMS, (filter) => (reader) => reader.summaries(filter)),
  ...each('counts', FORMS, (filter) => (reader) => reader.counts(filter)),
  ...each('histogram', FORMS, (filter) => (reader) => reader.histogram(filter)),
  ...each('groups', FORMS, (filter) => (reader) => reader.errorGroups(filter)),
  ...each('1,000 rows', FORMS, (filter) => (reader) => reader.summaries({ ...filter, limit: 1000 }), SOME_FORMS),
  ...each('traces', FORMS, (filter) => (reader) => reader.traces(filter), SOME_FORMS),
  ...each('versions', FORMS, (filter) => (reader) => reader.versions(filter), SOME_FORMS),
  ...each('request logs', REQUEST_FORMS, (filter) => (reader) => reader.requestLogs(filter)),
  ...each(
    'request logs by duration',
    REQUEST_FORMS,
    (filter) => (reader) => reader.requestLogs({ ...filter, sort: 'duration' }),
  ),
  ...each('routes', REQUEST_FORMS, (filter) => (reader) => reader.routes(filter)),
  ...each(
    'release comparison',
    REQUEST_FORMS,
    (filter) => (reader) => reader.compareReleases({ ...VERSIONS, ...filter }),
  ),
  ...['service', 'tag', 'user', 'order_id', 'message', 'timestamp', 'error.stack'].map((field) =>
    one(`values of ${field}`, (reader) => reader.values({ field })),
  ),
  one('values of service, field', (reader) => reader.values({ field: 'service', q: 'status:>=500' })),
  one('values of status of request logs', (reader) => reader.requestValues({ field: 'status' })),
  one('fields', (reader) => reader.fields()),
  one('fields of request logs', (reader) => reader.fields('requests')),
  one('runs', (reader) => reader.runs()),
  one('one trace', (reader) => reader.trace(traceId(77))),
  one('context of an old entry', (reader, store) => {
    const [oldest] = store.oldestFirst('entry')
    return reader.context(oldest?.record.id ?? '', {})
  }),
  one('monitors', (reader) => reader.monitors()),
  one('entry', (reader) => reader.entry(reader.entries({ limit: 1 }).items[0]?.id ?? '')),
  one('entry of an event', (reader) => reader.entry('evt_77')),
  one('entry of an event that is nowhere', (reader) => reader.entry('no-such-event')),
  one('entries after', (reader, store) => reader.entriesAfter(store.lastSeq - 3000, {}, 2000)),
  one('entries after the first', (reader) => reader.entriesAfter(1, {}, 2000)),
  one('entries after the first, a word that is nowhere', (reader) => reader.entriesAfter(1, { q: 'xyzzy' }, 2000)),
  one('page of heartbeats', (reader) => reader.list('heartbeat', {})),
  one('entries of a release', (reader) => reader.counts({ release_id: RELEASES[7] ?? '' })),
  one('record counts', (reader) => reader.recordCounts()),
]
