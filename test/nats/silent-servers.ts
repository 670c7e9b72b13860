/** Servers that accept connections and never reply, as if suspended, or down behind a load balancer. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** @returns the addresses. The servers end with the test */
export async function silentServers(
  count: number,
  whenFinished: (close: () => void) => void = onTestFinished,
  onConnection: () => void = () => {},
): Promise<string[]> {
  const sockets = new Set<Socket>()
  const servers = Array.from({ length: count }, () =>
    createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      onConnection()
    }),
  )
  await Promise.all(servers.map((server) => once(server.listen(0, '127.0.0.1'), 'listening')))
  whenFinished(() => {
    for (const socket of sockets) socket.destroy()
    for (const server of servers) server.close()
  })
  return servers.map((server) => `127.0.0.1:${(server.address() as AddressInfo).port}`)
}
