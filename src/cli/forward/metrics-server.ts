/** `--metrics`: serves metrics, readiness and liveness over HTTP. Read-only, without secrets. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, ListenOptions } from 'node:net'
import { PROMETHEUS_CONTENT_TYPE } from '../../app/metrics/prometheus-text.js'
import type { Health } from '../../forward/forwarder.js'
import { CommandError, createUsageError, EXIT_FAILED } from '../shared/command.js'
import { formatJsonLine } from '../shared/terminal.js'

const LOOPBACK = '127.0.0.1'

/** `HOST:PORT`, or a port on loopback. @throws CommandError */
export function parseMetricsAddress(text: string): ListenOptions {
  const [, bracketed, name, port = ''] = /^(?:\[([\da-f:.]+)\]:|([^\s:[\]/]+):|:)?(\d{1,5})$/i.exec(text) ?? []
  if (port === '' || Number(port) > 65_535)
    throw createUsageError(`--metrics must be HOST:PORT, such as ${LOOPBACK}:9464, got ${JSON.stringify(text)}`)
  return { host: bracketed ?? name ?? LOOPBACK, port: Number(port) }
}

/** @throws CommandError */
export async function startMetricsServer(
  address: ListenOptions,
  forwarder: { readonly metrics: string; readonly health: Health },
): Promise<{ readonly url: string; readonly close: () => void }> {
  const reply = (path: string | undefined): readonly [status: number, type: string, body: string] => {
    if (path === '/metrics') return [200, PROMETHEUS_CONTENT_TYPE, forwarder.metrics]
    if (path === '/livez') return [200, 'application/json', '{"alive":true}\n']
    if (path !== '/healthz') return [404, 'text/plain', 'not found\n']
    const { health } = forwarder
    return [health.ready ? 200 : 503, 'application/json', formatJsonLine(health)]
  }
  const server = createServer((request, response) => {
    request.resume()
    const [status, type, body] = reply(request.url?.split('?')[0])
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' })
    response.end(body)
  })
  server.on('error', () => {}) // A connection that cannot be accepted must not end the forwarder.
  server.listen(address)
  await once(server, 'listening').catch(({ code, message }: NodeJS.ErrnoException) => {
    throw new CommandError(
      'LISTEN',
      `cannot listen on ${address.host}:${address.port} (${code ?? message})`,
      EXIT_FAILED,
    )
  })
  const { address: ip, family, port } = server.address() as AddressInfo
  return {
    url: `http://${family === 'IPv6' ? `[${ip}]` : ip}:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
