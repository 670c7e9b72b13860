/** Sockets for clients that misbehave. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RawClient {
  readonly socket: Socket
  readonly text: () => string
  readonly isClosed: () => boolean
}

export interface RawPlan {
  readonly port: number
  readonly reads?: boolean
}

/** Opens a socket that is closed when the test ends. */
export function rawClient({ port, reads = true }: RawPlan): RawClient {
  const socket = connect(port, '127.0.0.1')
  const state = { text: '', isClosed: false }
  socket.on('error', () => {
    // Ignores errors, because the service resets these connections; tests check `isClosed()`.
  })
  socket.once('close', () => (state.isClosed = true))
  if (reads) socket.on('data', (chunk: Buffer) => (state.text = (state.text + chunk.toString('latin1')).slice(-10_000)))
  onTestFinished(() => void socket.destroy())
  return { socket, text: () => state.text, isClosed: () => state.isClosed }
}

export function head(path: string, fields: Record<string, string | number> = {}, method = 'POST'): string {
  const lines = Object.entries({ host: 'localhost', 'x-api-key': 'any', 'content-type': 'application/json', ...fields })
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`
}
