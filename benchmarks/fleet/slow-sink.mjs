/** [own process] Answers every request after a delay, and counts the requests. Argument: milliseconds. */
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

// Not an ingest result, since batches of any size count as accepted by it.
const BODY = '{}'
const HEADERS = { 'content-type': 'application/json', 'content-length': BODY.length }
const latencyMs = Number(process.argv[2])
/** Wall-clock times of the first and the last request, which parent and child share. */
let seen = { requests: 0, firstAt: 0, lastAt: 0 }

const server = createServer(async (request, response) => {
  const now = Date.now()
  seen = { requests: seen.requests + 1, firstAt: seen.firstAt || now, lastAt: now }
  request.resume()
  if (latencyMs > 0) await sleep(latencyMs)
  response.writeHead(200, HEADERS).end(BODY)
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}/api/v1` })
})
process.on('message', (question) => {
  if (question === 'reset') seen = { requests: 0, firstAt: 0, lastAt: 0 }
  process.send?.(seen)
})
process.on('disconnect', () => process.exit())
