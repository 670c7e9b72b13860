/** Request bodies: read, inflated and decoded, with limits. */
import buffer from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { CONTENT_TYPE } from '../../protocol/limits.js'
import { createSchemaProblem } from '../ingest/validators.js'
import { createFailure, createSchemaReply } from './service-reply.js'
import type { Reply } from './service-reply.js'

/** Limit for all bodies that are being read. */
const MAX_PENDING_BYTES = 256 << 20
/** Maximum of bytes of a refused body that are read and dropped, so that the client reads the reply. */
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

  /** @param maxBytes limit of one body, before and after inflating */
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

  /** The JSON value of a body, or the reply to a body that is not JSON. Synchronous, so that one body is inflated at a time. */
  decode(request: IncomingMessage, bytes: Buffer): DecodeResult {
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type !== CONTENT_TYPE)
      return { reply: createFailure(415, `content-type must be ${CONTENT_TYPE}`, 'media_type') }
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
    if (encoding === 'identity') return parseJson(bytes)
    if (encoding !== 'gzip') {
      const accepted = { 'accept-encoding': 'gzip' }
      return { reply: createFailure(415, 'content-encoding must be gzip or none', 'encoding', accepted) }
    }
    try {
      return parseJson(gunzipSync(bytes, { maxOutputLength: this.#maxBytes }))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return { reply: this.#tooLarge() }
      return { reply: createFailure(400, 'body is not valid gzip', 'encoding') }
    }
  }

  #tooLarge(): Reply {
    return createFailure(413, `body is longer than ${this.#maxBytes} bytes`, 'too_large')
  }
}

const overloaded = createFailure(503, 'too many bodies at once', 'overloaded', { 'retry-after': '1' })

// Not imported by name: an older Node does not have `isUtf8`, and could not report its version then.
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

/** Reads and drops the rest: after a reset a client that is still writing would not read the reply. */
export function drainBody(request: IncomingMessage): void {
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > MAX_DRAINED_BYTES) request.socket.destroy()
  })
  request.on('error', () => {})
}
