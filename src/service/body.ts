/** A request's body: read within bounds, inflated within bounds, decoded. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { CONTENT_TYPE } from '../protocol/limits.js'
import { failure, schemaReply } from './reply.js'
import type { Reply } from './reply.js'
import { schema } from './rules.js'

/** Bodies of all requests together; beyond it a request is told to come again. */
const MAX_PENDING_BYTES = 256 << 20
/** Of a body that is refused, this much is read and dropped so that the client gets to read the reply. */
const MAX_DRAINED_BYTES = 64 << 20

export type ReadResult =
  | { readonly kind: 'read'; readonly bytes: Buffer }
  | { readonly kind: 'refused'; readonly reply: Reply }
  /** The client went away. */
  | { readonly kind: 'gone' }

export class BodyReader {
  readonly #maxBytes: number
  #pendingBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** `onData` is called at the first byte; where it returns false, reading ends there. */
  read(request: IncomingMessage, response: ServerResponse, onData: () => boolean): Promise<ReadResult> {
    const refusal = this.#refusal(Number(request.headers['content-length'] ?? 0))
    if (refusal !== undefined) {
      drain(request)
      return Promise.resolve({ kind: 'refused', reply: refusal })
    }
    if (request.headers.expect !== undefined) response.writeContinue()
    return new Promise((resolve) => {
      const chunks: Buffer[] = []
      let length = 0
      const settle = (result: ReadResult): void => {
        this.#pendingBytes -= length
        length = 0
        chunks.length = 0
        request.off('data', take).off('end', end).off('close', gone).off('error', gone)
        resolve(result)
      }
      const take = (chunk: Buffer): void => {
        if (length === 0 && !onData()) return settle({ kind: 'gone' })
        chunks.push(chunk)
        length += chunk.length
        this.#pendingBytes += chunk.length
        const reply = this.#refusal(length)
        if (reply === undefined) return
        settle({ kind: 'refused', reply })
        drain(request)
      }
      const end = (): void => settle({ kind: 'read', bytes: Buffer.concat(chunks) })
      const gone = (): void => settle({ kind: 'gone' })
      request.on('data', take).on('end', end).on('close', gone).on('error', gone)
    })
  }

  #refusal(length: number): Reply | undefined {
    if (length > this.#maxBytes) return this.tooLarge()
    if (this.#pendingBytes <= MAX_PENDING_BYTES) return undefined
    return failure(503, 'too many bodies at once', 'overloaded', { 'retry-after': '1' })
  }

  tooLarge(): Reply {
    return failure(413, `body is longer than ${this.#maxBytes} bytes`, 'too_large')
  }

  /** The JSON value of a body, or the reply to one that has none. */
  async decode(request: IncomingMessage, bytes: Buffer): Promise<{ json: unknown } | { reply: Reply }> {
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type !== CONTENT_TYPE) return { reply: failure(415, `content-type must be ${CONTENT_TYPE}`, 'media_type') }
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
    if (encoding === 'identity') return parse(bytes)
    if (encoding !== 'gzip') {
      return { reply: failure(415, 'content-encoding must be gzip or none', 'encoding', { 'accept-encoding': 'gzip' }) }
    }
    try {
      return parse(await inflate(bytes, { maxOutputLength: this.#maxBytes }))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return { reply: this.tooLarge() }
      return { reply: failure(400, 'body is not valid gzip', 'encoding') }
    }
  }
}

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

function parse(bytes: Buffer): { json: unknown } | { reply: Reply } {
  if (!isUtf8(bytes)) return { reply: notJson('body is not valid UTF-8') }
  try {
    return { json: JSON.parse(bytes.toString()) }
  } catch {
    return { reply: notJson('body is not valid JSON') }
  }
}

function notJson(message: string): Reply {
  return { ...schemaReply(schema('value_error.jsondecode', message)), status: 400 }
}

/** Reads on and drops: a reset would take the reply from a client that is still writing. */
export function drain(request: IncomingMessage): void {
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > MAX_DRAINED_BYTES) request.socket.destroy()
  })
  request.on('error', () => {})
}
