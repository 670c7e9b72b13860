/** A port for a server that closes and opens again, or closes while its clients go on. */
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Systems give out ports for `listen(0)` and for clients from 32768 (Linux) or 49152 (RFC 6335) on. While a server on such a
 * port is closed, the server of another test may get its port, and with it the requests that are meant for this one.
 */
const FIRST = 10_000
const BEHIND_LAST = 32_768

/** @returns {Promise<number>} free on 127.0.0.1, and never given out by the system */
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
