/** Parses requests and creates replies of the log service. Each message contains the record's number as `n=123;`. */
import { gunzipSync } from 'node:zlib'

/**
 * @typedef {object} Parsed
 * @property {readonly number[]} numbers record numbers in order; -1 for a record without a number
 * @property {string} [batchId]
 * @property {string} [wrong] violation of the protocol
 */

/**
 * @typedef {object} Reply
 * @property {number} status
 * @property {string} body
 * @property {Readonly<Record<string, string | readonly string[]>>} [headers]
 */

const MAX_ENTRIES = 100

/** @param {unknown} value */
const json = (value, status = 200) => ({ status, body: JSON.stringify(value) })

/** @param {readonly number[]} bad */
const errors = (bad) =>
  bad.map((index) => ({ index, code: 'VALIDATION_ERROR', field: 'message', message: 'refused on purpose' }))

/** @param {number} count @param {readonly number[]} bad */
export const ingestResult = (count, bad) => ({
  accepted: count - bad.length,
  message: 'ok',
  rejected: bad.length,
  errors: errors(bad),
})

/** @param {readonly number[]} bad */
export const frameworkDetail = (bad) => ({
  detail: bad.map((index) => ({
    loc: ['body', 'logs', index, 'message'],
    msg: 'refused on purpose',
    type: 'value_error',
  })),
})

/** @param {import('node:http').IncomingHttpHeaders} headers @param {Buffer} body @returns {Parsed} */
export function parse(headers, body) {
  if (headers['content-type']?.startsWith('application/json') !== true)
    return { numbers: [], wrong: `content type ${headers['content-type']}` }
  /** @type {{ batch_id?: unknown, logs?: { message?: string }[] }} */
  let batch
  try {
    batch = JSON.parse((headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('utf8'))
  } catch (error) {
    return { numbers: [], wrong: `a body that is no JSON: ${error}` }
  }
  const { batch_id: batchId, logs } = batch
  if (!Array.isArray(logs) || typeof batchId !== 'string')
    return { numbers: [], wrong: 'a batch without logs or batch_id' }
  const numbers = logs.map(({ message }) => Number(/n=(\d+);/.exec(message ?? '')?.[1] ?? -1))
  return { numbers, batchId, ...(logs.length > MAX_ENTRIES && { wrong: `${logs.length} entries in a batch` }) }
}

/** Rejects the positions in `bad`. @param {number} count @param {readonly number[]} [bad] */
export const toReply = (count, bad = []) => json(ingestResult(count, bad), bad.length === 0 ? 200 : 422)
