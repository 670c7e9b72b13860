/** Writes replies: complete, in parts, slowly, or interrupted. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { systemClock } from '../../shared/clock.js'
import { pause } from '../../shared/pause.js'
import { drainBody } from './body-reader.js'
import { DATA_HEADERS } from '../service-reply.js'
import type { Reply } from '../service-reply.js'

/** Does nothing if the client has disconnected or a reply has started. */
export function sendReply(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  if (response.headersSent || response.destroyed) return
  if (!request.complete) {
    drainBody(request)
    // After "Expect: 100-continue" the client may or may not send its body now, so the connection cannot be reused.
    if (request.headers.expect !== undefined) response.setHeader('connection', 'close')
  }
  response.end(writeHead(response, reply))
}

/** Sends the body byte by byte. */
export async function sendSlowly(
  response: ServerResponse,
  reply: Reply,
  bytesPerSecond: number,
  signal: AbortSignal,
): Promise<void> {
  for (const byte of writeHead(response, reply)) {
    response.write(Buffer.of(byte))
    await pause(systemClock, 1000 / bytesPerSecond, signal)
    if (signal.aborted || response.destroyed) return
  }
  response.end()
}

/** Resets the connection; with a reply, after its head and half of its body. */
export function resetConnection({ socket }: IncomingMessage, response?: ServerResponse, reply?: Reply): void {
  if (response === undefined || reply === undefined) {
    socket.resetAndDestroy()
    return
  }
  const body = writeHead(response, reply)
  response.write(body.subarray(0, Math.ceil(body.length / 2)), () => socket.resetAndDestroy())
}

/** Statuses without a body (RFC 9110, 15.3.5, 15.3.6 and 15.4.5). */
const BODILESS: readonly number[] = [204, 205, 304]

function writeHead(response: ServerResponse, { status, body, headers }: Reply): Buffer {
  const isBodiless = BODILESS.includes(status)
  const bytes = isBodiless ? Buffer.alloc(0) : toBytes(body)
  response.writeHead(status, {
    'content-type': typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json',
    ...(isBodiless ? {} : { 'content-length': bytes.length }),
    ...DATA_HEADERS,
    ...headers,
  })
  return bytes
}

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/**
 * Yields to other requests between two parts, waits while the client does not read, and stops when it disconnects. If creating a part
 * fails, closes the connection: the client must not mistake the file for complete.
 */
export async function sendExport(
  request: IncomingMessage,
  response: ServerResponse,
  parts: Iterable<string>,
): Promise<void> {
  const name = `entries-${new Date().toISOString().slice(0, 19).replaceAll(':', '')}Z.ndjson`
  response.writeHead(200, {
    ...DATA_HEADERS,
    'content-type': 'application/x-ndjson; charset=utf-8',
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
