/**
 * Servers on loopback, and a port on which nothing listens. Values that must not appear in an entry start with
 * `secret-`.
 */
import dns from 'node:dns'
import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { createServer } from 'node:net'

const servers = []

/** A host name with several addresses, as most servers have. */
const lookup = dns.lookup
dns.lookup = (host, options, done = options) => {
  if (host !== 'all.test') return lookup(host, options, done)
  const addresses = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }))
  return options.all ? done(null, addresses) : done(null, addresses[0].address, 4)
}

/** @returns the port */
export async function listen(server) {
  servers.push(server.listen(0, '127.0.0.1').unref())
  await once(server, 'listening')
  return server.address().port
}

export const listenTcp = (onSocket) => listen(createServer((socket) => onSocket(socket.on('error', () => {}))))
export const listenHttp = (onRequest) => listen(createHttpServer(onRequest))

export async function closedPort() {
  const server = createServer()
  const port = await listen(server)
  server.close()
  await once(server, 'close')
  return port
}

export function close() {
  for (const server of servers) {
    server.close()
    server.closeAllConnections?.()
  }
}

export const HEADERS = { authorization: 'Bearer secret-token', cookie: 'session=secret-cookie', 'x-api-key': 'secret-key' }
