/** [own process] Accepts every batch unread. */
import { createServer } from 'node:http'

// Not an ingest result, since batches of any size count as accepted by it.
const BODY = '{}'
const HEADERS = { 'content-type': 'application/json', 'content-length': BODY.length }

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => response.writeHead(200, HEADERS).end(BODY))
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}/api/v1` })
})
process.on('disconnect', () => process.exit())
