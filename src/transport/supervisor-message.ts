/**
 * Message with which `ingestOptions()` gives a worker the shared counter of safe records, and the number lost with the
 * previous worker.
 */

/** To the worker, once. */
export interface SupervisorMessage {
  readonly code: 'PINO_INGEST_SUPERVISOR'
  /**
   * Shared memory with one number, which the worker keeps up to date: received records that are settled or on disk, of
   * all its transports. The application reads it after the worker's end.
   */
  readonly safeRecords: Float64Array
  /** Records that were lost with the previous worker. */
  readonly lost: number
}

export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return (
    typeof message === 'object' && message !== null && 'code' in message && message.code === 'PINO_INGEST_SUPERVISOR'
  )
}
