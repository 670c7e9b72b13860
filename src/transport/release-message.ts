/** Messages between main thread and transport for the release id. See `flush-message.ts` for those of a flush. */

/** To the worker. */
export interface ReleaseMessage {
  readonly code: 'PINO_INGEST_RELEASE'
  readonly releaseId: string
}

/** From the worker, with the id as its payload. Entries logged afterwards have the id. */
export const RELEASED_EVENT = 'ingest:released'

/** Method of a stream in the application's thread. A global symbol, since both builds of this package may be loaded. */
export const RELEASE_METHOD: unique symbol = Symbol.for('pino-ingest.release') as never

export interface Releasable {
  [RELEASE_METHOD](releaseId: string): void
}

export function isReleaseMessage(message: unknown): message is ReleaseMessage {
  return (
    typeof message === 'object' &&
    message !== null &&
    'code' in message &&
    message.code === 'PINO_INGEST_RELEASE' &&
    'releaseId' in message &&
    typeof message.releaseId === 'string'
  )
}
