/** The API below `/local/` for the page, tests and the command line: queries, faults and the reset. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Fault } from '../ingest/fault.js'
import type { Faults } from '../ingest/faults.js'
import { IngestServiceError } from '../ingest-service-error.js'
import type { ServiceStatus } from '../query/api-types.js'
import { createMissingError, createQueryError, ENTRY_FILTERS, PAGE } from '../query/query-filters.js'
import { readParameters, REQUEST_FILTERS } from '../query/query-filters.js'
import type { ParameterName, UrlParameters } from '../query/query-filters.js'
import type { StoreReader } from '../store-reader.js'
import type { RecordKind } from '../store/stored-record.js'
import type { StreamBroadcaster } from '../stream/stream-broadcaster.js'
import { decodeBody } from './body-reader.js'
import type { BodyReader } from './body-reader.js'
import { formatOrigin } from './access.js'
import type { RequestRecorder } from './request-recorder.js'
import { sendExport, sendReply } from './response-writer.js'
import { findSourcePositions, parseLocations } from '../source-maps/source-positions.js'
import { createErrorReply, createWrongMethod, notFound, ok } from '../service-reply.js'
import type { Reply } from '../service-reply.js'
import type { TokenAuth } from './access.js'

export const LOCAL_PREFIX = '/local/'

export interface LocalApiDependencies {
  readonly auth: TokenAuth
  readonly reader: StoreReader
  readonly faults: Faults
  readonly recorder: RequestRecorder
  readonly bodies: BodyReader
  readonly streams: StreamBroadcaster
  readonly createStatus: (origin: string) => ServiceStatus
  readonly reset: () => void
}

interface LocalRequest extends LocalApiDependencies {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Last segment of a path that ends in a name. */
  readonly name: string
  /** Parsed JSON body of a `POST`. */
  readonly body: unknown
}

/** Returns undefined if the handler sends the reply itself. @throws IngestServiceError `QUERY` or `FAULT` for an invalid request. */
type Handler<K extends ParameterName> = (
  parameters: Pick<UrlParameters, K>,
  local: LocalRequest,
) => Reply | undefined | Promise<Reply | void>

interface Route {
  readonly parameters: readonly ParameterName[]
  readonly methods: Readonly<Record<string, Handler<ParameterName>>>
}

const ROUTES: Readonly<Record<string, Route>> = {
  entries: get([...ENTRY_FILTERS, ...PAGE, 'newer', 'view', 'columns'], ({ view, columns, ...query }, { reader }) => {
    if (view === 'summary') return ok(reader.summaries({ ...query, ...(columns !== undefined && { columns }) }))
    if (columns !== undefined) throw createQueryError('columns', 'omitted without view=summary', columns.join())
    return ok(reader.entries(query))
  }),
  'entries/*': get([], (_, { reader, name }) => okIfFound(reader.entry(name))),
  'entries/*/context': get(['limit', 'columns'], (query, { reader, name }) => okIfFound(reader.context(name, query))),
  export: get([...ENTRY_FILTERS, 'format'], (query, { reader, request, response }) =>
    sendExport(request, response, reader.export(query)),
  ),
  counts: get(ENTRY_FILTERS, (filter, { reader }) => ok(reader.counts(filter))),
  histogram: get([...ENTRY_FILTERS, 'buckets'], (query, { reader }) => ok(reader.histogram(query))),
  chart: get([...ENTRY_FILTERS, 'chart', 'buckets'], ({ chart, ...query }, { reader }) => {
    if (chart === undefined) throw createMissingError('chart', 'count by service')
    return ok(reader.chart({ ...query, chart }))
  }),
  fields: get(['kind'], ({ kind }, { reader }) => ok({ items: reader.fields(kind) })),
  values: get([...ENTRY_FILTERS, 'kind', 'field', 'prefix', 'limit'], ({ kind, field, ...query }, { reader }) => {
    if (field === undefined) throw createMissingError('field', 'service')
    return ok(kind === 'requests' ? reader.requestValues({ ...query, field }) : reader.values({ ...query, field }))
  }),
  traces: get([...ENTRY_FILTERS, ...PAGE, 'sort'], (query, { reader }) => ok(reader.traces(query))),
  'traces/*': get([], (_, { reader, name }) => okIfFound(reader.trace(name))),
  timeline: get(ENTRY_FILTERS, (filter, { reader }) => okIfFound(reader.timeline(filter))),
  'error-groups': get([...ENTRY_FILTERS, ...PAGE, 'sort'], (query, { reader }) => ok(reader.errorGroups(query))),
  routes: get(REQUEST_FILTERS, (filter, { reader }) => ok(reader.routes(filter))),
  versions: get(ENTRY_FILTERS, (filter, { reader }) => ok(reader.versions(filter))),
  'release-comparison': get([...REQUEST_FILTERS, 'before', 'after'], ({ before, after, ...filter }, { reader }) => {
    if (before === undefined) throw createMissingError('before', 'service:shop version:1.2.0')
    if (after === undefined) throw createMissingError('after', 'run:shop-4711@laptop')
    return ok(reader.compareReleases({ ...filter, before, after }))
  }),
  runs: get([], (_, { reader }) => ok(reader.runs())),
  monitors: get([], (_, { reader }) => ok(reader.monitors())),
  status: get([], (_, { createStatus, request: { socket } }) =>
    ok(createStatus(formatOrigin(socket.localAddress ?? '', socket.localPort ?? 0))),
  ),
  stream: get([...ENTRY_FILTERS, 'after', 'columns'], ({ after, columns, ...filter }, local) => {
    const { streams, request, response } = local
    const afterSeq = readLastEventId(request) ?? (after === undefined ? undefined : parseSeq(after))
    return streams.open(request, response, { filter, columns, afterSeq })
  }),
  requests: get([], (_, { recorder }) => ok({ items: recorder.list() })),
  'request-logs': get([...REQUEST_FILTERS, ...PAGE, 'sort'], (query, { reader }) => ok(reader.requestLogs(query))),
  feedback: list('feedback'),
  releases: list('release'),
  heartbeats: list('heartbeat'),
  rejected: list('rejected'),
  faults: {
    parameters: [],
    methods: {
      GET: (_, { faults }) => ok({ items: faults.list() }),
      POST: (_, { faults, body }) => {
        faults.add(body as Fault)
        return ok({ items: faults.list() })
      },
      DELETE: (_, { faults }) => {
        faults.clear()
        return ok({ items: [] })
      },
    },
  },
  'source-positions': {
    parameters: [],
    methods: {
      // A POST, because the locations of a stack can be longer than a URL.
      POST: async (_, { body, reader, response }) => {
        const locations = parseLocations(body)
        const { error } = reader.entry(String((body as { readonly entry?: unknown }).entry))?.entry ?? {}
        const items = await findSourcePositions(locations, () => !response.destroyed, error?.stack)
        return ok({ items })
      },
    },
  },
  reset: {
    parameters: [],
    methods: {
      POST: (_, { reset }) => {
        reset()
        return ok({ status: 'ok' })
      },
    },
  },
}

function get<K extends ParameterName>(parameters: readonly K[], handler: Handler<K>): Route {
  return { parameters, methods: { GET: handler as Handler<ParameterName> } }
}

function list(kind: Exclude<RecordKind, 'entry' | 'request'>): Route {
  return get(PAGE, (page, { reader }) => ok(reader.list(kind, page)))
}

function okIfFound(found: unknown): Reply {
  return found === undefined ? notFound : ok(found)
}

export async function handleLocalRequest(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  dependencies: LocalApiDependencies,
): Promise<void> {
  const send = (reply: Reply): void => sendReply(request, response, reply)
  const search = new URLSearchParams((request.url ?? '').slice(path.length))
  // Checked first: a client without the token must not learn which paths exist.
  if (!dependencies.auth.allows(request, search)) return send(dependencies.auth.createRefusal(request))
  search.delete('token')
  const { route, name } = findRoute(path.slice(LOCAL_PREFIX.length))
  if (route === undefined) return send(notFound)
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
  const handler = Object.hasOwn(route.methods, method) ? route.methods[method] : undefined
  if (handler === undefined) return send(createWrongMethod(Object.keys(route.methods).join(', ')))

  const read = await dependencies.bodies.read(request, response)
  if (read.kind === 'gone') return
  if (read.kind === 'refused') return send(read.reply)
  const hasBody = method === 'POST' && read.bytes.length > 0
  const decoded = hasBody ? decodeBody(request, read.bytes) : { json: undefined }
  if ('reply' in decoded) return send(decoded.reply)
  try {
    const parameters = readParameters(search, route.parameters)
    const reply = await handler(parameters, { ...dependencies, request, response, name, body: decoded.json })
    if (reply !== undefined) send(reply)
  } catch (error) {
    if (!(error instanceof IngestServiceError)) throw error
    send(createErrorReply(error))
  }
}

function findRoute(path: string): { readonly route: Route | undefined; readonly name: string } {
  const [, prefix = '', encoded = '', suffix = ''] = /^([^/]+)\/([^/]+)(\/[^/]+)?$/.exec(path) ?? []
  const name = decodeName(encoded)
  const key = Object.hasOwn(ROUTES, path) || name === '' ? path : `${prefix}/*${suffix}`
  const isKnown = Object.hasOwn(ROUTES, key) && (key !== path || !path.includes('*'))
  return { route: isKnown ? ROUTES[key] : undefined, name }
}

/** A trace id can be any text. Returns an empty string if the percent encoding is invalid. */
function decodeName(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return ''
  }
}

function parseSeq(text: string): number {
  if (!/^\d{1,16}$/.test(text)) throw createQueryError('after', 'the seq of an entry', text)
  return Number(text)
}

/** The `seq` from the `Last-Event-ID` of a reader that reconnects; more recent than `after` in its URL. */
function readLastEventId({ headers }: IncomingMessage): number | undefined {
  const id = headers['last-event-id']
  if (id === undefined) return undefined
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return Number(id)
  throw createQueryError('Last-Event-ID', 'the id of an event of this stream', String(id))
}
