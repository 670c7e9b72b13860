/** Shared by all shops: a customer, an error with a code and a cause, a slow reply, the records at the start, the modes. */
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { Readable, Writable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import pino from 'pino'
import { ingestOptions, ingestStream } from 'pino-ingest'

const { WAY, LEVEL, LINES_FILE, STREAM_OPTIONS = '{}' } = process.env
const streams = createStreams()

function createStreams() {
  switch (WAY) {
    case 'worker':
      return [pino.transport({ target: 'pino-ingest' })]
    case 'stream':
      return [ingestStream(JSON.parse(STREAM_OPTIONS))]
    case 'same lines':
      return [pino.transport({ target: 'pino-ingest' }), ingestStream(JSON.parse(STREAM_OPTIONS))]
    default:
      return []
  }
}

process.once('SIGTERM', async () => {
  await Promise.all(streams.map((stream) => (stream.end(), once(stream, 'close'))))
  process.exit(0)
})

/** The second argument of pino. `undefined`: stdout, or the transport in the options. */
export const destination = WAY === 'stream' || streams.length === 0 ? streams[0] : createTee()

/** Each line goes to all streams and to a file. pino sends the worker its configuration by an event. */
function createTee() {
  const tee = new Writable({
    decodeStrings: false,
    write(line, _encoding, done) {
      for (const stream of streams) stream.write(line)
      if (WAY === 'same lines') appendFileSync(LINES_FILE, line)
      done()
    },
  })
  return tee.on('message', (config) => streams[0].emit('message', config))
}

export const port = Number(process.env.PORT)
export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
export const order = { lines: [{ sku: 'a', price: 12.5 }], note: null }
export const jane = { id: 'u-42', email: 'jane@example.com', name: 'Jane' }

class PaymentError extends Error {
  name = 'PaymentError'
  code = 'E_CARD'
}

function askIssuer() {
  throw new Error('issuer timeout')
}

export function charge() {
  try {
    askIssuer()
  } catch (cause) {
    throw new PaymentError('card declined', { cause })
  }
}

/** @returns the error that `charge` throws */
export function declined() {
  try {
    return charge()
  } catch (error) {
    return error
  }
}

/** A body whose second part comes so late that the client ends the connection before it. */
export function slowBody() {
  return Readable.from(
    (async function* () {
      yield 'first'
      await sleep(300)
      yield 'second'
    })(),
    { objectMode: false },
  )
}

/** The pino options for the mode in `WAY`. */
export function withIngest(options = {}) {
  const own = LEVEL === undefined ? options : { ...options, level: LEVEL }
  switch (WAY) {
    case 'transport':
      return { ...own, transport: { target: 'pino-ingest' } }
    case 'ingestOptions()':
      return ingestOptions(own)
    default:
      return own
  }
}

/** @param logger a pino logger, or one with the same methods */
export function open(logger) {
  logger.info({ orders: 3 }, 'shop is open')
  logger.warn('stock is low')
  logger.error(declined(), 'payment failed')
  logAll(logger, LEVELS, logNested)
}

/** One record of each level, and one with an object of a child logger. */
export function logAll(logger, levels, logChild) {
  for (const level of levels) logger[level](`at ${level}`)
  logChild(logger.child({ part: 'stock' }))
}

/** @param logger as of `open` */
export function logNested(logger) {
  logger.info({ order }, 'nested')
}
