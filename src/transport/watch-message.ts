/** Message by which the application's half of `ingestOptions()` follows its worker, and tells it of one that ended before. */

/** To the worker, once. */
export interface WatchMessage {
  readonly code: 'PINO_INGEST_WATCH'
  /**
   * Shared memory with one number, which the worker keeps up to date: received records that are settled or on disk, of
   * all its transports. It can be read after the worker's end.
   */
  readonly secured: Float64Array
  /** Records that were lost with the worker before this one. */
  readonly lost: number
}

export function isWatchMessage(message: unknown): message is WatchMessage {
  return typeof message === 'object' && message !== null && 'code' in message && message.code === 'PINO_INGEST_WATCH'
}
