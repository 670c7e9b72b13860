/**
 * Shapes of records, written by pino itself. Values that vary in production vary here, too, so that caches do not
 * look better than they are.
 */
import pino from 'pino'
import { error } from './shapes/error.mjs'
import { http } from './shapes/http.mjs'
import { mix } from './shapes/mix.mjs'
import { small } from './shapes/small.mjs'

/**
 * @typedef {'small' | 'http' | 'error' | 'mix'} Shape
 * @typedef {{
 *   level: 'debug' | 'info' | 'warn' | 'error', object: Record<string, unknown>, message: string, bindings?: Record<string, unknown>,
 * }} Call one call of a logger; with `bindings`, of a child logger that has them. Each message contains `MARK` once.
 */

/** @type {Readonly<Record<Shape, { make: (n: number) => Call, meaning: string }>>} */
export const SHAPES = {
  small: { make: small, meaning: 'lines of an application' },
  http: { make: http, meaning: 'requests as pino-http and Fastify write them' },
  error: { make: error, meaning: 'errors with their stacks' },
  mix: { make: mix, meaning: 'lines and requests, 9 % debug, 1 % errors' },
}

/** Without the mix: each has one kind of record, and all are sent. */
export const SHAPE_NAMES = /** @type {const} */ (['small', 'http', 'error'])

/** The text that identifies a record in a request's body of any format. */
export const MARK = '[shop]'

/** A multiple of 100, the size of the mix. */
const PERIOD = 2_000

/**
 * Different calls, created once and repeated: creating one takes longer than logging it. @param {Shape} shape
 * @returns {Call[]}
 */
export function callsOf(shape) {
  return Array.from({ length: PERIOD }, (_, n) => SHAPES[shape].make(n))
}

/**
 * Logs like an application with a child logger per request. @param {import('pino').Logger} logger @param {Call} call
 */
export function log(logger, { level, object, message, bindings }) {
  if (bindings === undefined) logger[level](object, message)
  else logger.child(bindings)[level](object, message)
}

/** The number of calls at or above the sent level. @param {readonly Call[]} calls @param {number} count */
export function sentOf(calls, count) {
  const inAll = calls.filter(isSent).length
  return Math.floor(count / calls.length) * inAll + calls.slice(0, count % calls.length).filter(isSent).length
}

/** @param {Call} call */
function isSent({ level }) {
  return level !== 'debug'
}

/** Values of a typical production host, not of this machine. */
export const BASE = { pid: 4242, hostname: 'web-1' }

const START_MS = Date.UTC(2026, 10, 21)
/** 5,000 records per second. */
const RECORDS_PER_MS = 5
/** thread-stream passes the text that has accumulated: little if it keeps up, at most its ring of 4 MiB otherwise. */
const CHUNK_BYTES = [64 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024]

/** Without bindings, which may contain another id. @param {string} reqId @param {Call} call @returns {Call} */
export function ofRequest(reqId, { level, object, message }) {
  return { level, object: { reqId, ...object }, message }
}

/**
 * The records as the worker receives them: flat strings, cut anywhere.
 *
 * @param {Shape} shape @param {number} records @returns {string[]}
 */
export function chunksOf(shape, records) {
  let written = ''
  let n = 0
  const timestamp = () => `,"time":${START_MS + Math.floor(n / RECORDS_PER_MS)}`
  const logger = pino(
    { base: BASE, timestamp, level: 'debug' },
    {
      write: (line) => {
        written += line
      },
    },
  )
  for (; n < records; n += 1) {
    log(logger, SHAPES[shape].make(n))
  }
  const bytes = Buffer.from(written)
  const chunks = []
  for (let at = 0; at < bytes.length;) {
    const size = /** @type {number} */ (CHUNK_BYTES[chunks.length % CHUNK_BYTES.length])
    chunks.push(bytes.toString('utf8', at, at + size))
    at += size
  }
  return chunks
}
