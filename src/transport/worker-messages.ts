/** Messages between main thread and transport for the release id and the supervisor. See `flush-message.ts` for those of a flush. */

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

/** To the worker, once, from `ingestOptions()`: the shared counts of its records, and the number lost with the previous worker. */
export interface SupervisorMessage {
  readonly code: 'PINO_INGEST_SUPERVISOR'
  /**
   * Shared memory with two numbers, which the worker keeps up to date: the records that its transports have received,
   * and those of them that are settled or on disk. The application reads it after the worker's end.
   */
  readonly counts: Float64Array
  /** Records that were lost with the previous worker; undefined for the first one. */
  readonly lost: number | undefined
}

/** Whether this is the message of that code. */
export function isMessage<T extends { readonly code: string }>(message: unknown, code: T['code']): message is T {
  return typeof message === 'object' && message !== null && 'code' in message && message.code === code
}
