/** Formats the JSON of a stored entry or request log as one line. Pure. */

const TIMESTAMP_WIDTH = 24
const LEVEL_WIDTH = 5

/** @param shorten shortens a text and escapes control characters */
export function formatEntrySummary(json: string, shorten: (text: string) => string): string {
  const { timestamp, level, message } = parseEntry(json)
  return `${shorten(timestamp).padEnd(TIMESTAMP_WIDTH)} ${shorten(level).padEnd(LEVEL_WIDTH)} ${shorten(message)}`
}

function parseEntry(json: string): Readonly<Record<'timestamp' | 'level' | 'message', string>> {
  let value: Record<string, unknown>
  try {
    value = Object(JSON.parse(json)) as Record<string, unknown>
  } catch {
    return { timestamp: '-', level: '-', message: json } // Damaged without a wrong checksum, or not an entry.
  }
  const text = (name: string): string => (typeof value[name] === 'string' ? value[name] : '-')
  // A log entry must have a level, a request log a status (interface: Resources).
  if ('level' in value || !('status_code' in value))
    return { timestamp: text('timestamp'), level: text('level'), message: text('message') }
  const message = `${text('method')} ${text('path')} ${String(value['duration_ms'])} ms`
  return { timestamp: text('timestamp'), level: String(value['status_code']), message }
}
