/** The replies of each service, and the text that occurs once per entry in a request's body. */

import { MARK } from '../tools/shapes.mjs'

/**
 * @typedef {object} Protocol
 * @property {'message' | 'service' | 'lines'} counts how entries are counted: by the mark in the record's message, by
 *   our service's name (a breadcrumb of an error repeats the message of another record), or by every other line
 * @property {number} status
 * @property {Readonly<Record<string, string>>} [headers]
 * @property {(entries: number) => string} body given the number of entries, or 0 if the body does not depend on it
 */

const JSON_TYPE = { 'content-type': 'application/json' }

/** @type {Protocol} */
const OURS = {
  counts: 'service',
  status: 200,
  headers: JSON_TYPE,
  body: (entries) => `{"accepted":${entries},"message":"ok","rejected":0,"errors":[]}`,
}

/**
 * @type {Protocol} Sends each body compressed; its entries are counted when the sink is idle, so its replies contain
 *   0.
 */
const AXIOM = {
  counts: 'message',
  status: 200,
  headers: JSON_TYPE,
  body: (entries) =>
    `{"ingested":${entries},"failed":0,"failures":[],"processedBytes":0,"blocksCreated":0,"walLength":0}`,
}

/** @type {Readonly<Record<string, Protocol>>} */
export const PROTOCOLS = {
  'pino-ingest': OURS,
  'pino-loki': { counts: 'message', status: 204, body: () => '' },
  '@logtail/pino': { counts: 'message', status: 202, body: () => '' },
  '@axiomhq/pino': AXIOM,
  'pino-datadog-transport': { counts: 'message', status: 202, headers: JSON_TYPE, body: () => '{}' },
  'pino-elasticsearch': {
    counts: 'lines',
    status: 200,
    // The client rejects services without this header, and requires its own content type.
    headers: {
      'x-elastic-product': 'Elasticsearch',
      'content-type': 'application/vnd.elasticsearch+json; compatible-with=8',
    },
    // One item per entry, as the client requires, with the fewest possible members. Real replies are longer.
    body: (entries) =>
      `{"took":1,"errors":false,"items":[${'{"index":{"status":201}},'.repeat(entries).slice(0, -1)}]}`,
  },
  // An empty protobuf message has zero bytes.
  'pino-opentelemetry-transport': {
    counts: 'message',
    status: 200,
    headers: { 'content-type': 'application/x-protobuf' },
    body: () => '',
  },
}

const NEWLINE = '\n'

/** @param {Protocol} protocol @returns {{ text: string, perEntry: number }} */
export function markOf({ counts }) {
  switch (counts) {
    case 'message':
      return { text: MARK, perEntry: 1 }
    case 'service':
      return { text: '"service":"shop"', perEntry: 1 }
    case 'lines':
      return { text: NEWLINE, perEntry: 2 } // an action and its document
  }
}

/** Counts a text in a body that arrives in chunks, without joining them. */
export class MarkCounter {
  count = 0
  #mark
  /** The end of the last chunk, since a mark may be split. @type {Buffer} */
  #tail = Buffer.alloc(0)

  /** @param {Buffer} mark */
  constructor(mark) {
    this.#mark = mark
  }

  /** @param {Buffer} piece */
  write(piece) {
    const mark = this.#mark
    const overlap = mark.length - 1
    if (overlap > 0 && this.#tail.length > 0) {
      const seam = Buffer.concat([this.#tail, piece.subarray(0, overlap)])
      if (seam.includes(mark)) this.count += 1
    }
    for (let at = piece.indexOf(mark); at !== -1; at = piece.indexOf(mark, at + mark.length)) this.count += 1
    if (overlap > 0)
      this.#tail =
        piece.length >= overlap
          ? piece.subarray(piece.length - overlap)
          : Buffer.concat([this.#tail, piece]).subarray(-overlap)
  }
}
