/** Streams the reply to `GET /local/export` in parts. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ExportFormat } from '../query/entry-export.js'
import { DATA_HEADERS } from '../response-headers.js'

const TYPES: Readonly<Record<ExportFormat, string>> = {
  ndjson: 'application/x-ndjson; charset=utf-8',
  csv: 'text/csv; charset=utf-8; header=present',
}

/**
 * Yields to other requests between two parts, waits while the client does not read, and stops when it disconnects. If creating a part
 * fails, closes the connection: the client must not mistake the file for complete.
 */
export async function sendExport(
  request: IncomingMessage,
  response: ServerResponse,
  { format, parts, at }: { readonly format: ExportFormat; readonly parts: Iterable<string>; readonly at: Date },
): Promise<void> {
  const name = `entries-${at.toISOString().slice(0, 19).replaceAll(':', '')}Z.${format}`
  response.writeHead(200, {
    ...DATA_HEADERS,
    'content-type': TYPES[format],
    'content-disposition': `attachment; filename="${name}"`,
  })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  // Sends the head now, because finding the first part can take long.
  response.flushHeaders()
  const closed = new AbortController()
  response.once('close', () => closed.abort())
  try {
    for (const part of parts) {
      const isFull = part !== '' && !response.write(part)
      if (isFull && !closed.signal.aborted) await once(response, 'drain', { signal: closed.signal })
      else await nextTurn()
      if (closed.signal.aborted) return
    }
    response.end()
  } catch (error) {
    if (closed.signal.aborted) return
    response.destroy()
    throw error
  }
}
