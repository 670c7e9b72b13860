/** The default export of the package. In the built package it is in `dist/cjs/index.js`, which loads only one of both functions. */
import type { IngestOptions } from '../options/resolve-options.js'
import { ingestStream } from './in-process.js'
import type { IngestStream } from './transport-stream.js'
import { ingestTransport, isPinoWorker } from './worker.js'

/**
 * Loaded by pino as `target: 'pino-ingest'`, it is the transport in pino's worker. Elsewhere it is `ingestStream()`.
 *
 * @example
 * const logger = pino(ingest({ service: 'checkout' }))
 * @param options each can also be set by an environment variable
 * @returns a stream that accepts pino's lines. It emits `ingest:*` events and never `error`.
 * @throws IngestError `CONFIG` that lists each option that is missing or invalid. In the worker, pino does not start.
 * @see https://getpino.io/#/docs/transports
 */
export function ingest(options?: IngestOptions): IngestStream {
  // pino's worker awaits the stream.
  return isPinoWorker() ? (ingestTransport(options) as unknown as IngestStream) : ingestStream(options)
}
