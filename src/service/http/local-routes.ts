/** What stands below `/local/`: one row a path, with a handler for each method. */
import type { ServiceStatus } from '../query/api-types.js'
import type { RequestRecorder } from './request-recorder.js'
import { IngestServiceError } from '../ingest-service-error.js'
import type { Fault } from '../ingest/fault.js'
import type { Faults } from '../ingest/faults.js'
import {
  readEntryListQuery,
  readErrorGroupsQuery,
  readEntryFilter,
  readHistogramQuery,
  readLatencyQuery,
} from '../query/url-parameters.js'
import {
  readPageQuery,
  readRequestFilter,
  readStreamQuery,
  readValueField,
  readValuesQuery,
} from '../query/url-parameters.js'
import { notFound, ok } from './service-reply.js'
import type { Reply } from './service-reply.js'
import type { StoreReader } from '../query/store-reader.js'
import type { StreamQuery } from '../stream/stream-broadcaster.js'
import type { RecordKind } from '../store/store.js'

export interface LocalRouteDependencies {
  readonly reader: StoreReader
  readonly faults: Faults
  readonly calls: RequestRecorder
  readonly status: () => ServiceStatus
  readonly reset: () => void
}

export interface LocalRequest {
  readonly parts: LocalRouteDependencies
  /** Without the token. */
  readonly query: URLSearchParams
  /** What follows the prefix of a path that takes a name. */
  readonly name: string
  /** Of a `POST` whose route wants one. */
  readonly body: unknown
  readonly openStream: (query: StreamQuery) => Reply | undefined
}

/**
 * Undefined where the answer is under way already.
 * @throws IngestServiceError `QUERY`, `FAULT` or `STORE` for what the caller did wrong.
 */
export type Handler = (request: LocalRequest) => Reply | undefined

export interface LocalRoute {
  readonly methods: Readonly<Record<string, Handler>>
  /** Whether its `POST` has a JSON body. */
  readonly hasBody?: boolean
  readonly name: string
}

type Row = Omit<LocalRoute, 'name'>

const ROWS: Readonly<Record<string, Row>> = {
  entries: get(({ parts: { reader }, query: parameters }) => {
    const { query, isBrief } = readEntryListQuery(parameters)
    return ok(isBrief ? reader.summaries(query) : reader.entries(query))
  }),
  counts: get(({ parts: { reader }, query }) => ok(reader.counts(readEntryFilter(query)))),
  histogram: get(({ parts: { reader }, query }) => {
    const { filter, maxBuckets } = readHistogramQuery(query)
    return ok(reader.histogram(filter, maxBuckets))
  }),
  'error-groups': get(({ parts: { reader }, query }) => ok(reader.errorGroups(readErrorGroupsQuery(query)))),
  routes: get(({ parts: { reader }, query }) => ok(reader.routes(readRequestFilter(query)))),
  'routes/latency': get(({ parts: { reader }, query: parameters }) => {
    const { query, maxBuckets } = readLatencyQuery(parameters)
    return ok(reader.routeLatency(query, maxBuckets))
  }),
  'release-health': get(({ parts: { reader }, query }) => ok(reader.releaseHealth(readPageQuery(query)))),
  monitors: get(withoutParameters(({ parts: { reader } }) => ok(reader.monitors()))),
  status: get(withoutParameters(({ parts }) => ok(parts.status()))),
  stream: get(({ query, openStream }) => openStream(readStreamQuery(query))),
  requests: get(withoutParameters(({ parts: { calls } }) => ok({ items: calls.list() }))),
  'request-logs': list('request'),
  feedback: list('feedback'),
  releases: list('release'),
  heartbeats: list('heartbeat'),
  rejected: list('rejected'),
  faults: {
    hasBody: true,
    methods: {
      GET: withoutParameters(({ parts: { faults } }) => ok({ items: faults.list() })),
      POST: withoutParameters(({ parts: { faults }, body }) => {
        faults.add(body as Fault)
        return ok({ items: faults.list() })
      }),
      DELETE: withoutParameters(({ parts: { faults } }) => {
        faults.clear()
        return ok({ items: [] })
      }),
    },
  },
  reset: {
    methods: {
      POST: withoutParameters(({ parts: { reset } }) => {
        reset()
        return ok({ status: 'ok' })
      }),
    },
  },
}

/** Paths of which the last part is a name. */
const NAMED: Readonly<Record<string, Row>> = {
  entries: get(
    withoutParameters(({ parts: { reader }, name }) => {
      const found = reader.entry(name)
      return found === undefined ? notFound : ok(found)
    }),
  ),
  values: get(({ parts: { reader }, query, name }) => {
    const { filter, limit } = readValuesQuery(query)
    return ok(reader.values(readValueField(name), filter, limit))
  }),
}

/** `path` is what follows `/local/`, as it stands. */
export function findLocalRoute(path: string): LocalRoute | undefined {
  if (Object.hasOwn(ROWS, path)) return { ...(ROWS[path] as Row), name: '' }
  const [, prefix = '', name = ''] = /^([^/]+)\/([^/]+)$/.exec(path) ?? []
  return Object.hasOwn(NAMED, prefix) ? { ...(NAMED[prefix] as Row), name } : undefined
}

function get(handler: Handler): Row {
  return { methods: { GET: handler } }
}

function list(kind: Exclude<RecordKind, 'entry'>): Row {
  return get(({ parts: { reader }, query }) => ok(reader.list(kind, readPageQuery(query))))
}

function withoutParameters(handler: Handler): Handler {
  return (request) => {
    const [name] = request.query.keys()
    if (name === undefined) return handler(request)
    throw new IngestServiceError('QUERY', `no parameter is known here, got ${JSON.stringify(name.slice(0, 100))}`)
  }
}
