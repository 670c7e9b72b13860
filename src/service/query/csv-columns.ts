/** The columns of a CSV file unless others are requested. The page requests them together with its own. */
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
