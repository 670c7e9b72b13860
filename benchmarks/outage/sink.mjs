/**
 * [own process] A service that can go down and come back at the same address, and that identifies each record by its
 * number. It replies to the commands `refuse` (stops listening and closes all connections), `up`, `heard`, `seen`,
 * `samples`, `verdict LOGGED`, `waits FROM_MS UNTIL_MS FIRST_NUMBER`.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Tally, nowMs } from './tally.mjs'

const SAMPLE_MS = 100

const tally = new Tally()
/** @type {{ atMs: number, entries: number, distinct: number }[]} */
const samples = []
/** Time of the first accepted batch after `up`. @type {number | null} */
let heardMs = null

const server = createServer((request, response) => {
  /** @type {Buffer[]} */
  const chunks = []
  request.on('data', (chunk) => chunks.push(chunk))
  request.on('end', () => {
    const atMs = nowMs()
    heardMs ??= atMs
    const accepted = tally.add(Buffer.concat(chunks).toString('latin1'), atMs)
    const body = JSON.stringify({ accepted, message: 'ok', rejected: 0, errors: [] })
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body)
  })
  // An outage cuts requests in flight.
  request.on('error', () => {})
})
server.keepAliveTimeout = 60_000

/** @param {number} port */
async function listen(port) {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return /** @type {import('node:net').AddressInfo} */ (server.address()).port
}

const port = await listen(0)
const sample = () => ({ atMs: nowMs(), entries: tally.entries, distinct: tally.distinct })
setInterval(() => samples.push(sample()), SAMPLE_MS)

/** @type {Record<string, (...args: number[]) => unknown>} */
const WORDS = {
  refuse: async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
    return nowMs()
  },
  up: async () => {
    heardMs = null
    if (!server.listening) await listen(port)
    return nowMs()
  },
  heard: () => heardMs,
  seen: () => ({ entries: tally.entries, distinct: tally.distinct }),
  // Includes the current state, since the last entries may have arrived after the last sample.
  samples: () => [...samples, sample()],
  verdict: (logged) => tally.verdict(/** @type {number} */ (logged)),
  waits: (from, until, first) => tally.waits(/** @type {number} */ (from), /** @type {number} */ (until), first),
}

process.on('message', async (/** @type {string} */ line) => {
  const [word = '', ...args] = line.split(' ')
  // A reply is always an object: null would count as no reply.
  process.send?.({ answer: await /** @type {(...args: number[]) => unknown} */ (WORDS[word])(...args.map(Number)) })
})
process.on('disconnect', () => process.exit())
process.send?.({ url: `http://127.0.0.1:${port}/api/v1` })
