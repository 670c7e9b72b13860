/** A port for a server that closes and opens again, or closes while its clients continue. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Systems assign ports from 32768 (Linux) or 49152 (RFC 6335) for `listen(0)` and for clients. While a server on such
 * a port is closed, the server of another test may get its port and receive its requests.
 */
const FIRST = 10_000
const BEHIND_LAST = 32_768

/** @returns {Promise<number>} a free port on 127.0.0.1 that the system never assigns */
export async function lastingPort() {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (BEHIND_LAST - FIRST))
    if (await isFree(port)) return port
  }
}

/** @param {number} port */
async function isFree(port) {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
