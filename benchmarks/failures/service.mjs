/**
 * [own process] A service that answers some requests 503, as it is asked. Arguments: case, ms before each reply, a number from which chance
 * is drawn. It answers `{ requests, refused, entries, duplicated, mostInFlight }` to whatever it is asked.
 */
import { createServer } from 'node:http'

const [name, delayMs, seed] = /** @type {[string, string, string]} */ (/** @type {unknown} */ (process.argv.slice(2)))
const OUTAGE_FROM_MS = 300
const OUTAGE_MS = 5_000
const BURST_MS = 500

const seen = { requests: 0, refused: 0, entries: 0, duplicated: 0, mostInFlight: 0 }
/** @type {Set<string>} */
const batches = new Set()
let inFlight = 0
let firstAt = 0
let state = Number(seed)

/** In [0, 1), the same numbers for the same seed (mulberry32). */
function chance() {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

function isRefused() {
  const ms = performance.now() - firstAt
  if (name === 'down for 5 s') return ms >= OUTAGE_FROM_MS && ms < OUTAGE_FROM_MS + OUTAGE_MS
  if (name === 'every other 500 ms') return ms % (2 * BURST_MS) >= BURST_MS
  return chance() < Number.parseFloat(name) / 100
}

const server = createServer((request, response) => {
  if (firstAt === 0) firstAt = performance.now()
  seen.requests += 1
  seen.mostInFlight = Math.max(seen.mostInFlight, (inFlight += 1))
  response.once('close', () => {
    inFlight -= 1
  })
  /** @type {Buffer[]} */
  const pieces = []
  request.on('data', (piece) => pieces.push(piece))
  request.on('end', () =>
    setTimeout(() => {
      if (isRefused()) {
        seen.refused += 1
        response.writeHead(503).end()
        return
      }
      const { batch_id: id, logs } = JSON.parse(Buffer.concat(pieces).toString())
      if (batches.has(id)) seen.duplicated += logs.length
      batches.add(id)
      seen.entries += logs.length
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ accepted: logs.length, message: 'ok', rejected: 0, errors: [] }))
    }, Number(delayMs)),
  )
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}/api/v1` })
})
process.on('message', () => process.send?.(seen))
process.on('disconnect', () => process.exit())
