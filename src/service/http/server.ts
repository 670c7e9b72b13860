/** The HTTP server: limits, routing by prefix, start and immediate close. */
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BASE_PATH } from '../../protocol/limits.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { handleEndpointRequest } from './endpoint-handler.js'
import type { EndpointDependencies } from './endpoint-handler.js'
import { handleLocalRequest, LOCAL_PREFIX } from './local-api.js'
import type { LocalApiDependencies } from './local-api.js'
import { findOriginProblem } from './access.js'
import { sendReply } from './response-writer.js'
import { createFailure, createWrongMethod, notFound } from '../service-reply.js'

const MAX_CONNECTIONS = 1024
const OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  // Longer than clients' default idle timeout: the client closes idle connections first and never gets a reset.
  keepAliveTimeout: 65_000,
}

export interface ServerDependencies {
  readonly endpoints: EndpointDependencies
  readonly local: LocalApiDependencies
  readonly onProblem: (message: string) => void
}

export function createHttpServer(dependencies: ServerDependencies): Server {
  const listener: RequestListener = (request, response) => {
    response.on('error', () => {
      // The client disconnected during the reply; that needs no report here.
    })
    handle(request, response, dependencies).catch((error: unknown) => {
      dependencies.onProblem(`internal error: ${error instanceof Error ? error.stack : String(error)}`)
      sendReply(request, response, createFailure(500, 'internal error', 'internal'))
    })
  }
  const server = createServer(OPTIONS, listener)
  server.maxConnections = MAX_CONNECTIONS
  // Without this listener Node sends "100 Continue" for every body; here the handler decides whether to read it.
  server.on('checkContinue', listener)
  return server
}

async function handle(
  request: IncomingMessage,
  response: ServerResponse,
  { endpoints, local }: ServerDependencies,
): Promise<void> {
  const originProblem = findOriginProblem(request)
  if (originProblem !== undefined) return sendReply(request, response, createFailure(403, originProblem, 'forbidden'))
  // A URL parser would resolve `/heartbeat/../ingest` to another endpoint.
  const path = (request.url ?? '').split('?', 1)[0] as string
  if (path.startsWith(`${BASE_PATH}/`)) return handleEndpointRequest(request, response, path, endpoints)
  if (path.startsWith(LOCAL_PREFIX)) return handleLocalRequest(request, response, path, local)
  // Loaded on demand, because services in tests do not need the page.
  const { findPageFile } = await import('./page-files.js')
  const file = findPageFile(path, request.headers['if-none-match'])
  if (file === undefined) return sendReply(request, response, notFound)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return sendReply(request, response, isRead ? file : createWrongMethod('GET'))
}

/** @throws IngestServiceError `PORT`. */
export function listenOn(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(createPortError(host, port, error)))
    server.listen({ host, port, exclusive: true }, () => resolve(server.address() as AddressInfo))
  })
}

/** Closes the server and all connections immediately, including those of pending requests. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)))
    server.closeAllConnections()
  })
}

function createPortError(host: string, port: number, error: NodeJS.ErrnoException): IngestServiceError {
  const reasons: Record<string, string> = {
    EADDRINUSE:
      'is already in use: stop the process that uses it (if it is `pino-ingest dev`, open the page that it printed), or choose another port with --port (0 selects a free one)',
    EACCES: 'is not permitted for this user: choose a port from 1024 to 65535',
  }
  const reason = reasons[error.code ?? ''] ?? `cannot be used (${error.message}): choose another port or host`
  return new IngestServiceError('PORT', `port ${port} on ${host} ${reason}`, error)
}
