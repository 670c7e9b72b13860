/** `/local/...`: what is stored, the faults and the reset, for the page, people, tests and the command line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TokenAuth } from './token-auth.js'
import type { BodyReader } from './body-reader.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { findLocalRoute } from './local-routes.js'
import type { LocalRouteDependencies } from './local-routes.js'
import { createFailure, notFound, createWrongMethod } from './service-reply.js'
import type { Reply } from './service-reply.js'
import type { StreamQuery, StreamBroadcaster } from '../stream/stream-broadcaster.js'
import { sendReply } from './response-writer.js'

export const LOCAL_PREFIX = '/local/'

export interface LocalApiDependencies extends LocalRouteDependencies {
  readonly access: TokenAuth
  readonly bodies: BodyReader
  readonly streams: StreamBroadcaster
}

export async function handleLocalRequest(
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  parts: LocalApiDependencies,
): Promise<void> {
  const query = new URLSearchParams((request.url ?? '').slice(path.length))
  // First of all: who has no token is not told which paths there are either.
  if (!parts.access.allows(request, query)) return sendReply(request, response, parts.access.createRefusal(request))
  query.delete('token')
  const route = findLocalRoute(path.slice(LOCAL_PREFIX.length))
  if (route === undefined) return sendReply(request, response, notFound)
  const { methods, hasBody = false } = route
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? '')
  const handler = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (handler === undefined) return sendReply(request, response, createWrongMethod(Object.keys(methods).join(', ')))

  const read = await parts.bodies.read(request, response, () => true)
  if (read.kind === 'gone') return
  if (read.kind === 'refused') return sendReply(request, response, read.reply)
  try {
    const decoded = hasBody && method === 'POST' ? await parts.bodies.decode(request, read.body) : { json: undefined }
    const openStream = (wanted: StreamQuery): Reply | undefined =>
      parts.streams.open(request, response, resumed(request, wanted))
    const reply =
      'reply' in decoded
        ? decoded.reply
        : attempt(() => handler({ parts, query, name: route.name, body: decoded.json, openStream }))
    if (reply !== undefined) sendReply(request, response, reply)
  } finally {
    read.body.share.release()
  }
}

/** The header is of a reader that comes back, and knows more than the address that it began with. */
function resumed({ headers }: IncomingMessage, query: StreamQuery): StreamQuery {
  const id = headers['last-event-id']
  if (id === undefined) return query
  if (typeof id === 'string' && /^\d{1,15}$/.test(id)) return { ...query, afterSeq: Number(id) }
  throw new IngestServiceError(
    'QUERY',
    `Last-Event-ID must be the id of an event of this stream, got ${JSON.stringify(id.slice(0, 100))}`,
  )
}

/** A wrong query or fault is the caller's; anything else goes up. */
function attempt(handle: () => Reply | undefined): Reply | undefined {
  try {
    return handle()
  } catch (error) {
    if (error instanceof IngestServiceError) return createFailure(400, error.message, error.code)
    throw error
  }
}
