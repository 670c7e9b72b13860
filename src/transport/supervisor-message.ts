/**
 * Message with which `ingestOptions()` gives a worker the shared counts of its records, and the number lost with the
 * previous worker.
 */

/** To the worker, once. */
export interface SupervisorMessage {
  readonly code: 'PINO_INGEST_SUPERVISOR'
  /**
   * Shared memory with two numbers, which the worker keeps up to date: the records that its transports have received,
   * and those of them that are settled or on disk. The application reads it after the worker's end.
   */
  readonly counts: Float64Array
  /** Records that were lost with the previous worker. */
  readonly lost: number
}

export function isSupervisorMessage(message: unknown): message is SupervisorMessage {
  return (
    typeof message === 'object' && message !== null && 'code' in message && message.code === 'PINO_INGEST_SUPERVISOR'
  )
}
