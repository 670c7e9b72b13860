/** A request's body: read within bounds, inflated within bounds, decoded. */
import buffer from 'node:buffer'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { CONTENT_TYPE } from '../../protocol/limits.js'
import { MemoryBudget } from './memory-budget.js'
import type { MemoryReservation } from './memory-budget.js'
import { createFailure, createSchemaReply } from './service-reply.js'
import type { Reply } from './service-reply.js'
import { createSchemaProblem } from '../ingest/validators.js'
import { Semaphore } from './semaphore.js'

/** Bodies of all requests together, as they came and inflated; beyond it a request is told to come again. */
const MAX_PENDING_BYTES = 256 << 20
/** On loopback the longest body takes a part of a second. */
const SLOW_MS = 2000
/** Of a body that is refused, this much is read and dropped so that the client gets to read the reply. */
const MAX_DRAINED_BYTES = 64 << 20

/** A thousand small bodies that all inflate to the longest at once would be a flood too; zlib has four threads anyway. */
const MAX_INFLATING = 8

export interface Body {
  readonly bytes: Buffer
  /** To be released when nothing of the body is held any more. */
  readonly share: MemoryReservation
}

export type ReadResult =
  | { readonly kind: 'read'; readonly body: Body }
  | { readonly kind: 'refused'; readonly reply: Reply }
  /** The client went away. */
  | { readonly kind: 'gone' }

interface Reading {
  readonly sinceMs: number
  readonly refuse: (reply: Reply) => void
}

export interface BodyLimits {
  /** Of one body, before and after inflating. */
  readonly maxBytes: number
  readonly maxPendingBytes?: number
  readonly now: () => number
}

export class BodyReader {
  readonly #maxBytes: number
  readonly #now: () => number
  readonly #budget: MemoryBudget
  readonly #inflating = new Semaphore(MAX_INFLATING)
  /** Those whose end has not come, oldest first. */
  readonly #reading = new Set<Reading>()

  constructor({ maxBytes, now, maxPendingBytes = MAX_PENDING_BYTES }: BodyLimits) {
    this.#maxBytes = maxBytes
    this.#now = now
    this.#budget = new MemoryBudget(maxPendingBytes)
  }

  /** Bytes of bodies that are being read or worked on. */
  get pendingBytes(): number {
    return this.#budget.takenBytes
  }

  /** `onData` is called at the first byte; where it returns false, reading ends there. */
  read(request: IncomingMessage, response: ServerResponse, onData: () => boolean): Promise<ReadResult> {
    if (Number(request.headers['content-length'] ?? 0) > this.#maxBytes) {
      drainBody(request)
      return Promise.resolve({ kind: 'refused', reply: this.tooLarge() })
    }
    if (request.headers.expect !== undefined) response.writeContinue()
    const share = this.#budget.share()
    return new Promise((resolve) => {
      let chunks: Buffer[] = []
      let length = 0
      const settle = (result: ReadResult): void => {
        if (!this.#reading.delete(reading)) return
        if (result.kind !== 'read') share.release()
        chunks = []
        request.off('data', take).off('end', end).off('close', gone).off('error', gone)
        resolve(result)
      }
      const refuse = (reply: Reply): void => {
        if (!this.#reading.has(reading)) return
        settle({ kind: 'refused', reply })
        drainBody(request)
      }
      const take = (chunk: Buffer): void => {
        if (length === 0 && !onData()) return settle({ kind: 'gone' })
        chunks.push(chunk)
        length += chunk.length
        share.take(chunk.length)
        if (length > this.#maxBytes) refuse(this.tooLarge())
        else if (!this.#fits()) refuse(overloaded)
      }
      const end = (): void => settle({ kind: 'read', body: { bytes: Buffer.concat(chunks), share } })
      const gone = (): void => settle({ kind: 'gone' })
      const reading: Reading = { sinceMs: this.#now(), refuse }
      this.#reading.add(reading)
      request.on('data', take).on('end', end).on('close', gone).on('error', gone)
    })
  }

  /** Where there is no room left, those that come too slowly make room: else a few of them could keep all others out. */
  #fits(): boolean {
    const slowMs = this.#now() - SLOW_MS
    for (const { sinceMs, refuse } of this.#reading) {
      if (this.#budget.fits() || sinceMs > slowMs) break
      refuse(tooSlow)
    }
    return this.#budget.fits()
  }

  tooLarge(): Reply {
    return createFailure(413, `body is longer than ${this.#maxBytes} bytes`, 'too_large')
  }

  /** The JSON value of a body, or the reply to one that has none. */
  async decode(request: IncomingMessage, { bytes, share }: Body): Promise<{ json: unknown } | { reply: Reply }> {
    const type = request.headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase()
    if (type !== CONTENT_TYPE)
      return { reply: createFailure(415, `content-type must be ${CONTENT_TYPE}`, 'media_type') }
    const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
    if (encoding === 'identity') return parse(bytes)
    if (encoding !== 'gzip') {
      return {
        reply: createFailure(415, 'content-encoding must be gzip or none', 'encoding', { 'accept-encoding': 'gzip' }),
      }
    }
    try {
      const inflated = await this.#inflating.run(() => inflate(bytes, { maxOutputLength: this.#maxBytes }))
      share.take(inflated.length)
      return this.#fits() ? parse(inflated) : { reply: overloaded }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return { reply: this.tooLarge() }
      return { reply: createFailure(400, 'body is not valid gzip', 'encoding') }
    }
  }
}

const overloaded: Reply = createFailure(503, 'too many bodies at once', 'overloaded', { 'retry-after': '1' })

const tooSlow: Reply = createFailure(503, 'too many bodies at once, and this one came too slowly', 'overloaded', {
  'retry-after': '1',
})

const inflate = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

// `isUtf8` is not imported by name: see `shared/node-version.ts`.
function parse(bytes: Buffer): { json: unknown } | { reply: Reply } {
  if (!buffer.isUtf8(bytes)) return { reply: notJson('body is not valid UTF-8') }
  try {
    return { json: JSON.parse(bytes.toString()) }
  } catch {
    return { reply: notJson('body is not valid JSON') }
  }
}

function notJson(message: string): Reply {
  return { ...createSchemaReply(createSchemaProblem('value_error.jsondecode', message)), status: 400 }
}

/** Reads on and drops: a reset would take the reply from a client that is still writing. */
export function drainBody(request: IncomingMessage): void {
  let length = 0
  request.on('data', (chunk: Buffer) => {
    length += chunk.length
    if (length > MAX_DRAINED_BYTES) request.socket.destroy()
  })
  request.on('error', () => {})
}
