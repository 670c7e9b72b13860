/**
 * The front door. Every public name stands here; what does not is internal and may change.
 * Deliberately not here: the local service (`pino-ingest/service`) and the command line.
 */
export { default } from './transport.js'
export type { IngestTransport } from './transport.js'
export { ingestStream } from './stream.js'
export { flush } from './app/flush.js'
export type { FlushOptions } from './app/flush.js'
export { flushOnSignal } from './app/shutdown.js'
export type { FlushOnSignalOptions } from './app/shutdown.js'
export type { FlushResult, FlushState } from './flush-message.js'
export type { IngestOptions } from './options.js'
export type { IngestEvents } from './report.js'
export type { AccountSnapshot, DropReason } from './account.js'
export { IngestClient, IngestError } from './client/index.js'
export type * from './client/index.js'
