/**
 * [own process] Accepts every batch, after a delay if its argument names milliseconds. It reads only the number of entries. It
 * replies `Seen` to every message; 'reset' begins the counts anew.
 */
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGunzip } from 'node:zlib'
import { MarkCounter, PROTOCOLS, markOf } from '../peers/protocols.mjs'

/** @typedef {{ requests: number, firstAt: number, lastAt: number }} Seen wall-clock times of the first and the last request */

const OURS = /** @type {import('../peers/protocols.mjs').Protocol} */ (PROTOCOLS['pino-ingest'])
const MARK = Buffer.from(markOf(OURS).text)
const delayMs = Number(process.argv[2] ?? 0)
/** @type {Seen} */
let seen = nothing()

/** @returns {Seen} */
function nothing() {
  return { requests: 0, firstAt: 0, lastAt: 0 }
}

const server = createServer((request, response) => {
  const now = Date.now()
  seen = { requests: seen.requests + 1, firstAt: seen.firstAt || now, lastAt: now }
  const counter = new MarkCounter(MARK)
  const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request
  body.on('data', (/** @type {Buffer} */ piece) => counter.write(piece))
  body.on('end', async () => {
    if (delayMs > 0) await sleep(delayMs)
    // Request logs have no such mark, and any JSON object accepts them.
    const reply = counter.count === 0 ? '{}' : OURS.body(counter.count)
    response.writeHead(200, { ...OURS.headers, 'content-length': reply.length }).end(reply)
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}/api/v1` })
})
process.on('message', (question) => {
  if (question === 'reset') seen = nothing()
  process.send?.(seen)
})
process.on('disconnect', () => process.exit())
