/** [own process] Accepts every batch unread, and replies with the ingest result of a full batch. */
import { createServer } from 'node:http'

const BODY = JSON.stringify({ accepted: 100, message: 'ok', rejected: 0, errors: [] })
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
