/** Default columns of a CSV file. The page requests them plus its own columns. */
export const CSV_COLUMNS: readonly string[] = [
  'timestamp',
  'level',
  'service',
  'environment',
  'version',
  'message',
  'error.type',
  'error.message',
  'request.method',
  'request.path',
  'request.status_code',
  'request.duration_ms',
  'user',
  'request_id',
  'trace.trace_id',
  'metadata',
]
