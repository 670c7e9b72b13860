/** Entry point `pino-ingest/client`: the service without pino. */
import '../shared/node-version.js'
export { IngestClient } from './ingest-client.js'
export type { CallOptions, IngestClientOptions, IngestInput, LogEntryInput } from './ingest-client.js'
export { IngestError } from '../shared/errors.js'
export type { IngestErrorCode } from '../shared/errors.js'
export type * from '../protocol/log-entry.js'
export type { IngestBatch, IngestResult, IngestResultError } from '../protocol/ingest-result.js'
export type { Feedback, RegisteredRelease, Release, RequestLog } from '../protocol/resources.js'
