/** The HTTP server: bounds, routing by prefix, start and prompt end. */
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BASE_PATH } from '../protocol/limits.js'
import { IngestServiceError } from './errors.js'
import { exchange } from './exchange.js'
import type { ExchangeParts } from './exchange.js'
import { answerLocal, LOCAL_PREFIX } from './local.js'
import type { LocalParts } from './local.js'
import { failure, notFound } from './reply.js'
import { sendReply } from './wire.js'

/** A head that takes longer holds a connection for nothing. */
const HEADERS_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 60_000
/** Longer than clients keep idle connections by default, so that the client ends them and never meets a reset. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000

export interface ServerParts {
  readonly exchange: ExchangeParts
  readonly local: LocalParts
  readonly maxConnections: number
  readonly onProblem: (message: string) => void
}

export function buildServer(parts: ServerParts): Server {
  const listener: RequestListener = (request, response) => {
    response.on('error', () => {
      // The client went away in the middle of its reply; its own log says so.
    })
    handle(request, response).catch((error: unknown) => {
      parts.onProblem(`internal error: ${error instanceof Error ? error.stack : String(error)}`)
      sendReply(request, response, failure(500, 'internal error', 'internal'))
    })
  }
  const handle = async (request: IncomingMessage, response: Parameters<RequestListener>[1]): Promise<void> => {
    const target = request.url ?? ''
    // As it stands: a URL parser would turn `/heartbeat/../ingest` into another endpoint.
    const path = target.split('?', 1)[0] as string
    if (path.startsWith(`${BASE_PATH}/`)) return exchange(request, response, path, parts.exchange)
    if (path.startsWith(LOCAL_PREFIX)) {
      return answerLocal(request, response, new URL(target, 'http://localhost'), parts.local)
    }
    return sendReply(request, response, notFound)
  }
  const server = createServer(
    { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS },
    listener,
  )
  // Each request decides itself whether it wants the body.
  server.on('checkContinue', listener)
  server.maxConnections = parts.maxConnections
  return server
}

/** @throws IngestServiceError `PORT`. */
export function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
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
    EADDRINUSE: 'is already in use: end the process that holds it, or choose another port (0 takes a free one)',
    EACCES: 'may not be used by this user: choose a port from 1024',
  }
  const reason = reasons[error.code ?? ''] ?? `cannot be used (${error.message}): choose another port or host`
  return new IngestServiceError('PORT', `port ${port} on ${host} ${reason}`, error)
}
