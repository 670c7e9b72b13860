/** The `pino-ingest/client` door: the service without pino. */
import '../engine.js'
export { IngestClient } from './client.js'
export type { CallOptions, IngestClientOptions } from './client.js'
export { IngestError } from '../errors.js'
export type { IngestErrorCode } from '../errors.js'
export type * from '../protocol/entry.js'
export type { IngestBatch, IngestResult, IngestResultError } from '../protocol/ingest.js'
export type { Feedback, RegisteredRelease, Release, RequestLog } from '../protocol/resources.js'
