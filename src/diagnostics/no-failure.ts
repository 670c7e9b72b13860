/** Instead of the latest failure. */
export const NO_FAILURE =
  'none, a request was still in progress; `await flush(logger)` before the exit waits for its reply'
