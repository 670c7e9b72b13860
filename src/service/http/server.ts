/** The HTTP server: bounds, routing by prefix, start and prompt end. */
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BASE_PATH } from '../../protocol/limits.js'
import type { ConnectionLimiter } from './connection-limiter.js'
import { IngestServiceError } from '../ingest-service-error.js'
import { handleEndpointRequest } from './endpoint-handler.js'
import type { EndpointDependencies } from './endpoint-handler.js'
import { findOriginProblem } from './origin-check.js'
import { handleLocalRequest, LOCAL_PREFIX } from './local-api.js'
import type { LocalApiDependencies } from './local-api.js'
import { createFailure, notFound, createWrongMethod } from './service-reply.js'
import { sendReply } from './response-writer.js'

export interface ServerTimeouts {
  /** A head that takes longer holds a connection for nothing; a connection without one is ended then, too. */
  readonly headersMs: number
  /** From a request's head to the end of its body. */
  readonly requestMs: number
  readonly keepAliveMs: number
  /** After so long without a byte a client that does not take its reply is cut off. */
  readonly idleMs: number
  /** How often the first two are looked at. */
  readonly checkMs: number
}

export const TIMEOUTS: ServerTimeouts = {
  headersMs: 10_000,
  requestMs: 60_000,
  // Longer than clients keep idle connections by default, so that the client ends them and never meets a reset.
  keepAliveMs: 65_000,
  idleMs: 60_000,
  checkMs: 5000,
}

export interface ServerDependencies {
  readonly exchange: EndpointDependencies
  readonly local: LocalApiDependencies
  readonly connections: ConnectionLimiter
  readonly timeouts: ServerTimeouts
  readonly onProblem: (message: string) => void
}

export function createHttpServer(parts: ServerDependencies): Server {
  const { connections, timeouts } = parts
  const listener: RequestListener = (request, response) => {
    response.on('error', () => {
      // The client went away in the middle of its reply; its own log says so.
    })
    connections.admitRequest(response, () => {
      handle(request, response, parts).catch((error: unknown) => {
        parts.onProblem(`internal error: ${error instanceof Error ? error.stack : String(error)}`)
        sendReply(request, response, createFailure(500, 'internal error', 'internal'))
      })
    })
  }
  const server = createServer(
    {
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.requestMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: timeouts.checkMs,
    },
    listener,
  )
  server.timeout = timeouts.idleMs
  // Each request decides itself whether it wants the body.
  server.on('checkContinue', listener)
  connections.attachTo(server)
  return server
}

async function handle(request: IncomingMessage, response: ServerResponse, parts: ServerDependencies): Promise<void> {
  const refusal = findOriginProblem(request)
  if (refusal !== undefined) return sendReply(request, response, createFailure(403, refusal, 'forbidden'))
  // As it stands: a URL parser would turn `/heartbeat/../ingest` into another endpoint.
  const path = (request.url ?? '').split('?', 1)[0] as string
  if (path.startsWith(`${BASE_PATH}/`)) return handleEndpointRequest(request, response, path, parts.exchange)
  if (path.startsWith(LOCAL_PREFIX)) return handleLocalRequest(request, response, path, parts.local)
  // Loaded when somebody looks: a service in a test has no use for it.
  const { pageFile } = await import('../page/page.js')
  const file = pageFile(path, request.headers['if-none-match'])
  if (file === undefined) return sendReply(request, response, notFound)
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  return sendReply(request, response, isRead ? file : createWrongMethod('GET'))
}

/** @throws IngestServiceError `PORT`. */
export function listenOn(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(portError(host, port, error)))
    server.listen({ host, port, exclusive: true }, () => resolve(server.address() as AddressInfo))
  })
}

/** Ends connections too, also those with a request that hangs. */
export function closeServer(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    server.close((error) => (error === undefined ? resolve() : reject(error)))
    server.closeAllConnections()
  })
}

function portError(host: string, port: number, error: NodeJS.ErrnoException): IngestServiceError {
  const reasons: Record<string, string> = {
    EADDRINUSE:
      'is already in use: end the process that holds it, or choose another port with --port (0 takes a free one)',
    EACCES: 'may not be used by this user: choose a port from 1024',
  }
  const reason = reasons[error.code ?? ''] ?? `cannot be used (${error.message}): choose another port or host`
  return new IngestServiceError('PORT', `port ${port} on ${host} ${reason}`, error)
}
