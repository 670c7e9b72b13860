/** `/local/...`: what is stored, the faults and the reset, as JSON for people, tests and the command line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { BodyReader } from './body.js'
import type { Calls } from './calls.js'
import { IngestServiceError } from './errors.js'
import type { Fault } from './fault.js'
import type { Faults } from './faults.js'
import { guardLocal } from './guard.js'
import { entryQueryOf, pageQueryOf } from './queries.js'
import { failure, notFound, ok, wrongMethod } from './reply.js'
import type { Reply } from './reply.js'
import type { Reader } from './reader.js'
import { sendReply } from './wire.js'

export const LOCAL_PREFIX = '/local/'

export interface LocalParts {
  readonly reader: Reader
  readonly faults: Faults
  readonly calls: Calls
  readonly bodies: BodyReader
  readonly reset: () => void
}

type Handler = (parts: LocalParts, query: URLSearchParams, body: unknown) => Reply

const ROUTES: Readonly<Record<string, Readonly<Record<string, Handler>>>> = {
  entries: { GET: ({ reader }, query) => ok(reader.entries(entryQueryOf(query))) },
  counts: { GET: ({ reader }, query) => ok(reader.counts(entryQueryOf(query))) },
  requests: { GET: ({ calls }) => ok({ items: calls.list() }) },
  'request-logs': { GET: ({ reader }, query) => ok(reader.list('request', pageQueryOf(query))) },
  feedback: { GET: ({ reader }, query) => ok(reader.list('feedback', pageQueryOf(query))) },
  releases: { GET: ({ reader }, query) => ok(reader.list('release', pageQueryOf(query))) },
  heartbeats: { GET: ({ reader }, query) => ok(reader.list('heartbeat', pageQueryOf(query))) },
  rejected: { GET: ({ reader }, query) => ok(reader.list('rejected', pageQueryOf(query))) },
  faults: {
    GET: ({ faults }) => ok({ items: faults.list() }),
    POST: ({ faults }, _query, body) => {
      faults.add(body as Fault)
      return ok({ items: faults.list() })
    },
    DELETE: ({ faults }) => {
      faults.clear()
      return ok({ items: [] })
    },
  },
  reset: {
    POST: ({ reset }) => {
      reset()
      return ok({ status: 'ok' })
    },
  },
}

const ENTRY_PREFIX = 'entries/'

export async function answerLocal(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  parts: LocalParts,
): Promise<void> {
  const refusal = guardLocal(request)
  if (refusal !== undefined) return sendReply(request, response, failure(403, refusal, 'forbidden'))
  const name = url.pathname.slice(LOCAL_PREFIX.length)
  const methods = name.startsWith(ENTRY_PREFIX)
    ? { GET: oneEntry(name.slice(ENTRY_PREFIX.length)) }
    : Object.hasOwn(ROUTES, name)
      ? ROUTES[name]
      : undefined
  if (methods === undefined) return sendReply(request, response, notFound)
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
  const handler = Object.hasOwn(methods, method) ? (methods as Record<string, Handler>)[method] : undefined
  if (handler === undefined) return sendReply(request, response, wrongMethod(Object.keys(methods).join(', ')))

  const read = await parts.bodies.read(request, response, () => true)
  if (read.kind === 'gone') return
  if (read.kind === 'refused') return sendReply(request, response, read.reply)
  const needsBody = method === 'POST' && name === 'faults'
  const decoded = needsBody ? await parts.bodies.decode(request, read.bytes) : { json: undefined }
  if ('reply' in decoded) return sendReply(request, response, decoded.reply)
  sendReply(
    request,
    response,
    attempt(() => handler(parts, url.searchParams, decoded.json)),
  )
}

function oneEntry(id: string): Handler {
  return ({ reader }) => {
    const found = reader.entry(id)
    return found === undefined ? notFound : ok(found)
  }
}

/** A wrong query or fault is the caller's; anything else goes up. */
function attempt(handle: () => Reply): Reply {
  try {
    return handle()
  } catch (error) {
    if (error instanceof IngestServiceError) return failure(400, error.message, error.code)
    throw error
  }
}
