/** Reads and decodes request bodies, with size limits. */
import buffer from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { CONTENT_TYPE } from '../../protocol/limits.js'
import { createSchemaReply } from '../ingest/ingest-replies.js'
import { createSchemaProblem } from '../ingest/validators.js'
import { createFailure } from '../service-reply.js'
import type { Reply } from '../service-reply.js'

/** Limit for the sum of all bodies that are being read: 256 MiB. */
const MAX_PENDING_BYTES = 256 << 20
/** Maximum number of bytes of a refused body to read and discard before closing, see `drainBody()`. */
const MAX_DRAINED_BYTES = 64 << 20

export type ReadResult =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly reply: Reply }
  /** The client closed the connection. */
  | { readonly kind: 'gone' }

export type DecodeResult = { readonly json: unknown } | { readonly reply: Reply }

export class BodyReader {
  readonly #maxBytes: number
  readonly #maxPendingBytes: number
  #pendingBytes = 0

  /** @param maxBytes limit for one body */
  constructor(maxBytes: number, maxPendingBytes = MAX_PENDING_BYTES) {
    this.#maxBytes = maxBytes
    this.#maxPendingBytes = maxPendingBytes
  }

  /** @param onData called at the first byte; reading ends if it returns false */
  read(request: IncomingMessage, response: ServerResponse, onData = (): boolean => true): Promise<ReadResult> {
    if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) {
      drainBody(request)
      return Promise.resolve({ kind: 'refused', reply: this.#tooLarge() })
    }
    if (request.headers.expect !== undefined) response.writeContinue()
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      let length = 0
      const settle = (result: ReadResult): void => {
        request.off('data', take).off('end', end).off('close', onGone).off('error', onGone)
        this.#pendingBytes -= length
        resolve(result)
        if (result.kind === 'refused') drainBody(request)
      }
      const take = (chunk: Buffer): void => {
        if (length === 0 && !onData()) return settle({ kind: 'gone' })
        chunks.push(chunk)
        length += chunk.length
        this.#pendingBytes += chunk.length
        if (length > this.#maxBytes) settle({ kind: 'refused', reply: this.#tooLarge() })
        else if (this.#pendingBytes > this.#maxPendingBytes) settle({ kind: 'refused', reply: overloaded })
      }
      const end = (): void => settle({ kind: 'read', bytes: Buffer.concat(chunks) })
      const onGone = (): void => settle({ kind: 'gone' })
      request.on('data', take).on('end', end).on('close', onGone).on('error', onGone)
    })
  }

  #tooLarge(): Reply {
    return createFailure(413, `body is longer than ${this.#maxBytes} bytes`, 'too_large')
  }
}

/** Returns the JSON value of a body, or the error reply. */
export function decodeBody({ headers }: IncomingMessage, bytes: Buffer): DecodeResult {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== CONTENT_TYPE) return { reply: createFailure(415, `content-type must be ${CONTENT_TYPE}`, 'media_type') }
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  return encoding === 'identity'
    ? parseJson(bytes)
    : { reply: createFailure(415, 'bodies must not be compressed', 'encoding') }
}

const overloaded = createFailure(503, 'too many concurrent request bodies', 'overloaded', { 'retry-after': '1' })

// A named import would fail on an older Node without `isUtf8`, before the Node version check can report it.
function parseJson(bytes: Buffer): DecodeResult {
  if (!buffer.isUtf8(bytes)) return { reply: createJsonFailure('body is not valid UTF-8') }
  try {
    return { json: JSON.parse(bytes.toString()) }
  } catch {
    return { reply: createJsonFailure('body is not valid JSON') }
  }
}

function createJsonFailure(message: string): Reply {
  return { ...createSchemaReply(createSchemaProblem('value_error.jsondecode', message)), status: 400 }
}

/** Reads and discards the rest of the body. Without this, a client that is still writing gets a reset instead of the reply. */
export function drainBody(request: IncomingMessage): void {
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > MAX_DRAINED_BYTES) request.socket.destroy()
  })
  request.on('error', () => {})
}
