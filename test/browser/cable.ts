/** A proxy between page and service whose connections tests can cut while the service keeps running. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Served } from './browser-page.js'

export interface Cable extends Served {
  /** Closes all connections, and refuses new ones until `mend()`. */
  cut(): void
  mend(): void
}

/** Starts the proxy; it is closed when the test ends. */
export async function plug({ port, token }: { readonly port: number; readonly token: string }): Promise<Cable> {
  const open = new Set<Socket>()
  let isCut = false
  const keep = (socket: Socket): void => {
    open.add(socket)
    socket.on('error', () => {}) // The other end is notified by its own `close`.
    socket.on('close', () => open.delete(socket))
  }
  const cut = (): void => {
    isCut = true
    for (const socket of open) socket.destroy()
  }
  const server = createServer((near) => {
    keep(near)
    if (isCut) return void near.destroy()
    const far = connect(port, '127.0.0.1')
    keep(far)
    near.pipe(far).pipe(near)
    near.on('close', () => far.destroy())
    far.on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    cut()
  })
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    cut,
    mend: () => {
      isCut = false
    },
  }
}
