/**
 * Parses requests and creates replies in the format of pino-ingest's service and of each peer's service.
 *
 * Each message contains the record's number as `n=123;`, which can be found in any format: JSON, NDJSON, msgpack and
 * protobuf leave text unchanged. For pino-ingest's own requests each entry is parsed.
 */
import { gunzipSync, inflateSync } from 'node:zlib'

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

/**
 * @typedef {object} Format
 * @property {(headers: import('node:http').IncomingHttpHeaders, body: Buffer) => Parsed} parse
 * @property {(count: number) => Reply} accepted
 * @property {(count: number, bad: readonly number[]) => Reply} partly rejects the positions in `bad` and stores the others
 */

const NUMBER = /n=(\d+);/g
const MAX_ENTRIES = 100

/** @param {unknown} value */
const json = (value, status = 200) => ({ status, body: JSON.stringify(value) })

/** @param {Buffer} body @param {string | undefined} encoding */
function decoded(body, encoding) {
  if (encoding === 'gzip') return gunzipSync(body)
  return encoding === 'deflate' ? inflateSync(body) : body
}

/** @type {Format['parse']} */
function scan(headers, body) {
  const text = decoded(body, headers['content-encoding']).toString('latin1')
  return { numbers: Array.from(text.matchAll(NUMBER), ([, digits]) => Number(digits)) }
}

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

/** @type {Format} */
const ours = {
  parse(headers, body) {
    if (headers['content-type']?.startsWith('application/json') !== true)
      return { numbers: [], wrong: `content type ${headers['content-type']}` }
    /** @type {{ batch_id?: unknown, logs?: { message?: string }[] }} */
    let batch
    try {
      batch = JSON.parse(decoded(body, headers['content-encoding']).toString('utf8'))
    } catch (error) {
      return { numbers: [], wrong: `a body that is no JSON: ${error}` }
    }
    const { batch_id: batchId, logs } = batch
    if (!Array.isArray(logs) || typeof batchId !== 'string')
      return { numbers: [], wrong: 'a batch without logs or batch_id' }
    const numbers = logs.map(({ message }) => Number(/n=(\d+);/.exec(message ?? '')?.[1] ?? -1))
    return { numbers, batchId, ...(logs.length > MAX_ENTRIES && { wrong: `${logs.length} entries in a batch` }) }
  },
  accepted: (count) => json(ingestResult(count, [])),
  partly: (count, bad) => json(ingestResult(count, bad), 422),
}

/** @type {Format} */
const elasticsearch = {
  parse: scan,
  accepted: (count) => elasticsearch.partly(count, []),
  partly(count, bad) {
    const refused = new Set(bad)
    const items = Array.from({ length: count }, (_, index) => ({
      index: refused.has(index)
        ? { status: 400, error: { type: 'document_parsing_exception', reason: 'refused on purpose' } }
        : { status: 201 },
    }))
    return {
      status: 200,
      // Its client requires this product header and content type.
      headers: {
        'x-elastic-product': 'Elasticsearch',
        'content-type': 'application/vnd.elasticsearch+json; compatible-with=8',
      },
      body: JSON.stringify({ took: 1, errors: bad.length > 0, items }),
    }
  },
}

/** @type {Readonly<Record<string, Format>>} */
export const FORMATS = {
  'pino-ingest': ours,
  'pino-loki': {
    parse: scan,
    accepted: () => ({ status: 204, body: '' }),
    partly: () => ({ status: 400, body: 'entry refused on purpose' }),
  },
  '@logtail/pino': {
    parse: scan,
    accepted: () => ({ status: 202, body: '' }),
    partly: () => ({ status: 406, body: '' }),
  },
  '@axiomhq/pino': {
    parse: scan,
    accepted: (count) =>
      json({ ingested: count, failed: 0, failures: [], processedBytes: 0, blocksCreated: 0, walLength: 0 }),
    partly: (count, bad) =>
      json({
        ingested: count - bad.length,
        failed: bad.length,
        failures: bad.map(() => ({ error: 'refused on purpose' })),
        processedBytes: 0,
        blocksCreated: 0,
        walLength: 0,
      }),
  },
  'pino-datadog-transport': {
    parse: scan,
    accepted: () => json({}, 202),
    partly: () => json({ errors: [{ detail: 'refused on purpose' }] }, 400),
  },
  'pino-elasticsearch': elasticsearch,
  'pino-opentelemetry-transport': {
    parse: scan,
    // An empty protobuf message has zero bytes. Field 1, partial_success: 1 rejected_log_records, 2 error_message.
    accepted: () => ({ status: 200, body: '', headers: { 'content-type': 'application/x-protobuf' } }),
    partly: (_count, bad) => ({
      status: 200,
      body: `\n\u0006\b${String.fromCodePoint(Math.min(bad.length, 127))}\u0012\u0002no`,
      headers: { 'content-type': 'application/x-protobuf' },
    }),
  },
}
