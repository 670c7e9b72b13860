/** Commands fail if the NATS server accepts a connection and then hangs. Needs no nats-server. */
import { createServer } from 'node:net'
import type { Socket } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { runCli, startCli } from '../cli/run-cli.js'
import { until } from './forward-fleet.js'
import { UNLESS_IT_HANGS } from './nats-servers.js'

const INFO = JSON.stringify({ server_id: 'x', version: '2.9.10', proto: 1, headers: true, max_payload: 1_048_576 })
const COMMANDS = [['forward', 'init'], ['forward', 'dead', 'ls'], ['doctor']]

interface HungServer {
  readonly address: string
  readonly connections: () => number
}

/** @param greets whether it hangs after the handshake; otherwise before */
async function hungServer(greets: boolean): Promise<HungServer> {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    if (!greets) return
    socket.write(`INFO ${INFO}\r\n`)
    socket.once('data', () => socket.write('PONG\r\n'))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as { readonly port: number }
  return { address: `127.0.0.1:${port}`, connections: () => sockets.length }
}

it.each([false, true])('a command fails (after the handshake: %s)', UNLESS_IT_HANGS, async (greets) => {
  const { address } = await hungServer(greets)
  const results = await Promise.all(COMMANDS.map((args) => runCli(args, { PINO_INGEST_NATS_SERVERS: address })))
  expect(results.map(({ code }) => code)).toEqual([1, 1, 1])
})

it.each([false, true])('a signal ends forward (after the handshake: %s)', UNLESS_IT_HANGS, async (greets) => {
  const { address, connections } = await hungServer(greets)
  const { child, done } = startCli(['forward'], {
    PINO_INGEST_NATS_SERVERS: address,
    PINO_INGEST_URL: 'http://127.0.0.1:1/api/v1',
    PINO_INGEST_API_KEY: 'the-key-of-the-forwarder-4711',
  })
  await until(() => connections() > 0)
  child.kill('SIGTERM')
  expect((await done).code).toBe(0)
})
