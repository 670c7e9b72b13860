/**
 * A gateway between a function and the service that forgets idle connections. The client detects that only when it
 * sends again, by a reset or not at all.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Gateway {
  /** The URL of the service through the gateway. */
  readonly url: string
  /** The number of connections so far. */
  readonly connections: () => number
  /** Kills the open connections; new ones work. */
  forget(answer: 'reset' | 'silence'): void
}

export async function gatewayTo({ url, port }: { readonly url: string; readonly port: number }): Promise<Gateway> {
  const open = new Map<Socket, Socket>()
  let connections = 0
  const server = createServer((client) => {
    connections += 1
    const upstream = connect(port, '127.0.0.1')
    open.set(client, upstream)
    client.on('error', () => {})
    upstream.on('error', () => client.destroy())
    client.on('data', (bytes) => upstream.write(bytes))
    upstream.on('data', (bytes) => client.write(bytes))
    upstream.on('end', () => client.end())
    client.on('close', () => {
      open.delete(client)
      upstream.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const all = new Set<Socket>()
  server.on('connection', (client: Socket) => all.add(client))
  onTestFinished(async () => {
    for (const client of all) client.destroy()
    server.close()
    await once(server, 'close')
  })
  return {
    url: url.replace(`:${port}/`, `:${(server.address() as AddressInfo).port}/`),
    connections: () => connections,
    forget(answer) {
      for (const [client, upstream] of open) {
        upstream.removeAllListeners('end').removeAllListeners('data').destroy()
        client.removeAllListeners('data').on('data', () => {
          if (answer === 'reset') client.resetAndDestroy()
        })
      }
      open.clear()
    },
  }
}
