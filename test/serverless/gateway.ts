/**
 * What stands between a function and the service, and remembers connections: it forgets those that are idle for long. The client hears
 * of that only when it sends again: by a reset, or not at all.
 */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Gateway {
  /** The service's URL, by way of the gateway. */
  readonly url: string
  /** Connections so far. */
  readonly connections: () => number
  /** Those that are open are dead from here on; new ones are not. */
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
