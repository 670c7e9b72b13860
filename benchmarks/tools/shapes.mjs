/** Shapes of record, written by pino itself; what varies in production varies here, so that no cache looks too good. */
import pino from 'pino'
import { LineSplitter } from '../../build/modules/record/line-splitter.js'
import { error } from './shapes/error.mjs'
import { http } from './shapes/http.mjs'
import { mix } from './shapes/mix.mjs'
import { small } from './shapes/small.mjs'

/**
 * @typedef {'small' | 'http' | 'error' | 'mix'} Shape
 * @typedef {{
 *   level: 'debug' | 'info' | 'warn' | 'error', object: Record<string, unknown>, message: string, bindings?: Record<string, unknown>,
 * }} Call one call of a logger; with `bindings`, of a child that has them. `MARK` is in each message once, and nowhere else.
 * @typedef {{ text: string, start: number, end: number }} Line a record as a range of its chunk
 */

/** @type {Readonly<Record<Shape, { make: (n: number) => Call, meaning: string }>>} */
export const SHAPES = {
  small: { make: small, meaning: 'lines of an application' },
  http: { make: http, meaning: 'requests as pino-http and Fastify write them' },
  error: { make: error, meaning: 'errors with their stacks' },
  mix: { make: mix, meaning: 'lines and requests, 9 % debug, 1 % errors' },
}

/** Without the mix: each is of one kind, and all of it is sent. */
export const SHAPE_NAMES = /** @type {const} */ (['small', 'http', 'error'])

/** By which a record is counted in a request's body, whatever its format. */
export const MARK = '[shop]'

/** A multiple of 100, of which the mix is made. */
const PERIOD = 2_000

/** Different calls, to be made again and again: making one takes longer than logging it. @param {Shape} shape @returns {Call[]} */
export function callsOf(shape) {
  return Array.from({ length: PERIOD }, (_, n) => SHAPES[shape].make(n))
}

/** As an application with a child logger for each request does. @param {import('pino').Logger} logger @param {Call} call */
export function log(logger, { level, object, message, bindings }) {
  if (bindings === undefined) logger[level](object, message)
  else logger.child(bindings)[level](object, message)
}

/** How many of so many calls are at or above the level that is sent. @param {readonly Call[]} calls @param {number} count */
export function sentOf(calls, count) {
  const inAll = calls.filter(isSent).length
  return Math.floor(count / calls.length) * inAll + calls.slice(0, count % calls.length).filter(isSent).length
}

/** @param {Call} call */
function isSent({ level }) {
  return level !== 'debug'
}

/** In production neither is the machine's own. */
export const BASE = { pid: 4242, hostname: 'web-1' }

const START_MS = Date.UTC(2026, 10, 21)
/** 5,000 records a second. */
const RECORDS_PER_MS = 5
/** thread-stream hands over what has gathered: little when it keeps up, at most its ring of 4 MiB when it does not. */
const CHUNK_BYTES = [64 * 1024, 256 * 1024, 1024 * 1024, 4 * 1024 * 1024]

/**
 * 200 requests at once: each logs ten debug lines beside the others', one in ten fails, and all end.
 *
 * @type {readonly Call[]}
 */
export const REQUESTS = [
  ...Array.from(
    { length: 10 * 200 },
    (_, n) =>
      /** @type {Call} */ ({
        level: 'debug',
        object: { reqId: `req-${n % 200}`, step: Math.floor(n / 200), table: 'orders' },
        message: 'row read from the database',
      }),
  ),
  ...Array.from({ length: 200 }, (_, id) =>
    id % 10 === 0 ? ofRequest(`req-${id}`, error(id)) : ofRequest(`req-${id}`, small(id)),
  ),
]

/** Without bindings, which may have another id. @param {string} reqId @param {Call} call @returns {Call} */
export function ofRequest(reqId, { level, object, message }) {
  return { level, object: { reqId, ...object }, message }
}

/**
 * The records as the worker gets them: flat strings, cut anywhere.
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

/** @param {readonly string[]} chunks @returns {Line[]} */
export function linesOf(chunks) {
  /** @type {Line[]} */
  const lines = []
  const splitter = new LineSplitter((text, start, end) => lines.push({ text, start, end }))
  for (const chunk of chunks) splitter.write(chunk)
  splitter.end()
  return lines
}
