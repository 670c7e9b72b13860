/** Messages between main thread and transport for the id of a release, as `flush-message.ts` for a flush. */

/** To the worker. */
export interface ReleaseMessage {
  readonly code: 'PINO_INGEST_RELEASE'
  readonly releaseId: string
}

/** From the worker, with the id as its payload: entries that are logged after it carry the id. */
export const RELEASED_EVENT = 'ingest:released'

/** Method of a stream in the application's own thread. Global, since both builds of this package may be loaded. */
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
