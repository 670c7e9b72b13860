/** Servers on loopback that a test controls and that record their requests. */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, request as httpRequest } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { ServerOptions } from 'node:https'
import { connect, createServer as createTcpServer } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createHttp } from '../../src/client/http.js'
import type { Http, HttpOptions } from '../../src/client/http-types.js'
import { ApiKey } from '../../src/options/api-key.js'

export const KEY = 'canary-key-4711+/='

export function pem(name: string): string {
  return readFileSync(fileURLToPath(new URL(`../fixtures/tls/${name}`, import.meta.url)), 'utf8')
}

export interface Came {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface TestServer {
  readonly origin: string
  readonly port: number
  readonly came: Came[]
  /** The number of connections so far. */
  readonly connections: () => number
  readonly openSockets: ReadonlySet<Socket>
}

type Answer = (response: ServerResponse, came: Came) => void

const answerOk: Answer = (response) => void response.end('{}')

async function listening(server: Server, scheme: string, came: Came[], host: string): Promise<TestServer> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {}) // many tests disconnect the client
  })
  server.listen(0, host)
  await once(server, 'listening')
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  return { origin: `${scheme}://${host}:${port}`, port, came, connections: () => connections, openSockets: sockets }
}

function listener(came: Came[], answer: Answer): RequestListener {
  return (request: IncomingMessage, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (part: string) => (body += part))
    request.on('end', () => {
      const one = { method: request.method ?? '', url: request.url ?? '', headers: request.headers, body }
      came.push(one)
      answer(response, one)
    })
  }
}

export function httpServer(answer: Answer = answerOk, host = '127.0.0.1'): Promise<TestServer> {
  const came: Came[] = []
  return listening(createHttpServer(listener(came, answer)), 'http', came, host)
}

export function httpsServer(options: ServerOptions = {}, answer: Answer = answerOk): Promise<TestServer> {
  const came: Came[] = []
  const server = createHttpsServer(
    { cert: pem('server.crt'), key: pem('server.key'), ...options },
    listener(came, answer),
  )
  return listening(server, 'https', came, '127.0.0.1')
}

/** A raw server, for replies that no HTTP server would send. */
export function rawServer(onBytes: (socket: Socket) => void): Promise<TestServer> {
  const server = createTcpServer((socket) => void socket.once('data', () => onBytes(socket)))
  return listening(server, 'http', [], '127.0.0.1')
}

/** A port on which nothing listens. */
export async function deadPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

export interface TestProxy extends TestServer {
  /** The `host:port` of each CONNECT. */
  readonly tunnels: readonly string[]
  readonly authorizations: readonly (string | undefined)[]
}

/** A proxy for CONNECT and absolute-form requests. With `credentials` it answers 407 to requests without them. */
export async function proxyServer(credentials?: string): Promise<TestProxy> {
  const tunnels: string[] = []
  const authorizations: (string | undefined)[] = []
  const came: Came[] = []
  const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`
  const isAllowed = ({ headers }: IncomingMessage): boolean => {
    authorizations.push(headers['proxy-authorization'])
    return wanted === undefined || headers['proxy-authorization'] === wanted
  }
  const server = createHttpServer((request, response) => {
    came.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: '' })
    if (!isAllowed(request)) return void response.writeHead(407).end()
    request.pipe(
      httpRequest(request.url ?? '', { method: request.method ?? '', headers: request.headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers)
        reply.pipe(response)
      }),
    )
  })
  server.on('connect', (request, client: Socket) => {
    client.on('error', () => {})
    tunnels.push(request.url ?? '')
    if (!isAllowed(request)) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n')
    const [host, port] = (request.url ?? '').split(':')
    const upstream = connect(Number(port), host ?? '', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(client)
      client.pipe(upstream)
    })
    upstream.on('error', () => client.destroy())
    client.on('close', () => upstream.destroy())
  })
  return { ...(await listening(server, 'http', came, '127.0.0.1')), tunnels, authorizations }
}

/** The server is closed when the test ends. */
export function httpTo(origin: string, options: Partial<HttpOptions> = {}): Http {
  const http = createHttp({
    url: `${origin}/api/v1`,
    apiKey: new ApiKey(KEY),
    requestTimeoutMs: 5_000,
    maxConnections: 4,
    ...options,
  })
  onTestFinished(() => http.close())
  return http
}
