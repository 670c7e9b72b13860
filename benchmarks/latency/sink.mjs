/**
 * [own process] Accepts every batch, and records when its reply was passed to the system. Entries contain the time of
 * their log call by the same clock, `process.hrtime`: the system's monotonic clock, which all processes share.
 */
import { createServer } from 'node:http'

/** @typedef {{ metadata: { n: number, loggedUs: number } }} Entry */

const HEADERS = { 'content-type': 'application/json' }
/** @type {Map<number, number>} ms from log call to reply, by the record's number */
const latencies = new Map()
let repeated = 0

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    /** @type {{ logs: Entry[] }} */
    const { logs } = JSON.parse(Buffer.concat(chunks).toString())
    response.on('finish', () => keep(logs, Number(process.hrtime.bigint() / 1000n)))
    response
      .writeHead(200, HEADERS)
      .end(JSON.stringify({ accepted: logs.length, message: 'ok', rejected: 0, errors: [] }))
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}/api/v1` })
})
// Any message requests the data since the previous message.
process.on('message', () => {
  process.send?.({ latencies: [...latencies], repeated })
  latencies.clear()
  repeated = 0
})
process.on('disconnect', () => process.exit())

/** @param {readonly Entry[]} entries @param {number} nowUs */
function keep(entries, nowUs) {
  for (const {
    metadata: { n, loggedUs },
  } of entries) {
    if (latencies.has(n)) repeated += 1
    else latencies.set(n, (nowUs - loggedUs) / 1000)
  }
}
