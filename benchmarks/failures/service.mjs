/**
 * [own process] A service that answers 503 to some requests. Arguments: failure case, seed of
 * the random numbers, records before the failures start. It replies `Served` to every message; 'begin' ends the
 * warm-up.
 */
import { createServer } from 'node:http'
import { MarkCounter, PROTOCOLS, markOf } from '../peers/protocols.mjs'

/** @typedef {{ requests: number, refused: number, entries: number, duplicated: number, mostInFlight: number }} Served */

const [name, seed, warmUp] = /** @type {[string, string, string]} */ (/** @type {unknown} */ (process.argv.slice(2)))
const OUTAGE_FROM_MS = 300
const OUTAGE_MS = 5_000
const BURST_MS = 500
const OURS = /** @type {import('../peers/protocols.mjs').Protocol} */ (PROTOCOLS['pino-ingest'])
const MARK = Buffer.from(markOf(OURS).text)
/** A body starts with its `batch_id`. */
const ID_BYTES = 64

let isWarm = warmUp === '0'
/** @type {Served} */
let seen = nothing()
/** @type {Set<string>} */
const batches = new Set()
let inFlight = 0
let firstAt = 0
let state = Number(seed)

/** @returns {Served} */
function nothing() {
  return { requests: 0, refused: 0, entries: 0, duplicated: 0, mostInFlight: 0 }
}

/** A number in [0, 1), the same sequence for the same seed (mulberry32). */
function chance() {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
}

function isRefused() {
  if (!isWarm) return false
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
  const counter = new MarkCounter(MARK)
  let head = Buffer.alloc(0)
  request.on('data', (/** @type {Buffer} */ piece) => {
    counter.write(piece)
    if (head.length < ID_BYTES) head = Buffer.concat([head, piece.subarray(0, ID_BYTES)])
  })
  request.on('end', () => {
    if (isRefused()) {
      seen.refused += 1
      response.writeHead(503).end()
      return
    }
    const id = head.toString('latin1', 0, ID_BYTES)
    if (batches.has(id)) seen.duplicated += counter.count
    batches.add(id)
    seen.entries += counter.count
    response.writeHead(200, OURS.headers).end(OURS.body(counter.count))
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  process.send?.({ url: `http://127.0.0.1:${port}/api/v1` })
})
process.on('message', (question) => {
  process.send?.(seen)
  if (question !== 'begin') return
  isWarm = true
  seen = nothing()
})
process.on('disconnect', () => process.exit())
