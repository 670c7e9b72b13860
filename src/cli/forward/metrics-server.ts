/** `--metrics`: serves metrics, readiness and liveness over HTTP. Read-only, without secrets. */
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { isIP } from 'node:net'
import type { AddressInfo } from 'node:net'
import { PROMETHEUS_CONTENT_TYPE } from '../../app/metrics/prometheus-text.js'
import type { Health } from '../../forward/forwarder.js'
import { CommandError, createUsageError, EXIT_FAILED } from '../shared/command.js'

export interface MetricsAddress {
  readonly host: string
  readonly port: number
}

export interface MetricsServerOptions extends MetricsAddress {
  readonly metrics: () => string
  readonly health: () => Health
}

const LOOPBACK = '127.0.0.1'
const REQUEST_TIMEOUT_MS = 5_000

/** `HOST:PORT`, or a port on loopback. @throws CommandError */
export function parseMetricsAddress(text: string): MetricsAddress {
  const [, bracketed, name, port = ''] = /^(?:\[([\da-f:.]+)\]:|([^\s:[\]/]+):|:)?(\d{1,5})$/i.exec(text) ?? []
  const host = bracketed ?? name ?? LOOPBACK
  const isHost = bracketed === undefined || isIP(bracketed) === 6
  if (port === '' || Number(port) > 65_535 || !isHost)
    throw createUsageError(`--metrics must be HOST:PORT, such as ${LOOPBACK}:9464, got ${JSON.stringify(text)}`)
  return { host, port: Number(port) }
}

/** @throws CommandError */
export async function startMetricsServer({
  host,
  port,
  metrics,
  health,
}: MetricsServerOptions): Promise<{ readonly url: string; readonly close: () => void }> {
  const server = createServer(
    { requestTimeout: REQUEST_TIMEOUT_MS, headersTimeout: REQUEST_TIMEOUT_MS },
    (request, response) => {
      const reply = (status: number, type: string, body: string): void => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
        response.end(request.method === 'HEAD' ? undefined : body)
      }
      request.resume()
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('allow', 'GET, HEAD')
        return reply(405, 'text/plain', 'GET only\n')
      }
      const [path] = (request.url ?? '').split('?')
      if (path === '/metrics') return reply(200, PROMETHEUS_CONTENT_TYPE, metrics())
      if (path === '/livez') return reply(200, 'application/json', '{"alive":true}\n')
      if (path !== '/healthz') return reply(404, 'text/plain', 'not found\n')
      const state = health()
      return reply(state.ready ? 200 : 503, 'application/json', `${JSON.stringify(state)}\n`)
    },
  )
  await listen(server, host, port)
  const { address, family, port: bound } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${bound}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        new CommandError('LISTEN', `cannot listen on ${host}:${port} (${error.code ?? error.message})`, EXIT_FAILED),
      )
    })
    server.listen(port, host, () => resolve())
  })
}
