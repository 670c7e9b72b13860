/** One request through undici, and its reply. */
import type { Dispatcher } from 'undici'
import type { HttpFailure, HttpReply } from './http-types.js'

/** Reason for a missing reply. `error`: from undici, for `network` and `reset`. */
export interface ExchangeFailure {
  readonly kind: 'network' | 'reset' | 'timeout' | 'aborted'
  readonly error?: unknown
}

export interface HttpRequest {
  readonly path: string
  readonly signal: AbortSignal | undefined
  readonly timeoutMs: number
  /** As `systemClock.now()`. */
  readonly deadlineAt: number
  readonly resolve: (reply: HttpReply | Promise<HttpReply>) => void
  readonly reject: (failure: HttpFailure) => void
}

/** Either a reply or a failure. */
export type ExchangeEnd = (
  exchange: HttpExchange,
  reply: HttpReply | Promise<HttpReply> | undefined,
  failure: ExchangeFailure | undefined,
) => void

interface AbortHandle {
  abort(reason: Error): void
}

/** Enough for an ingest result, which names at most 100 entries. A longer reply is not from the service. */
export const MAX_REPLY_BYTES = 256 * 1024

/** Reason for undici; not passed on. */
const NO_LONGER_WANTED = new Error('no longer wanted')

/**
 * Ends once, with a reply or a failure. Uses the lowest interface of undici, which takes 22 us per exchange. undici's `request`
 * creates a stream for each reply and takes 28 us, or 51 us with signal, timeout and iteration.
 */
export class HttpExchange implements Dispatcher.DispatchHandler {
  readonly request: HttpRequest
  readonly #end: ExchangeEnd
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #status = 0
  #headers: HttpReply['headers'] = {}
  #controller: AbortHandle | undefined
  #isEnded = false

  /** @param end called once */
  constructor(request: HttpRequest, end: ExchangeEnd) {
    this.request = request
    this.#end = end
  }

  get deadlineAt(): number {
    return this.request.deadlineAt
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  /** @param controller ends a request in flight that is no longer needed */
  onRequestStart(controller: AbortHandle): void {
    this.#controller = controller
    if (this.#isEnded) controller.abort(NO_LONGER_WANTED)
  }

  /** @param reply a promise while it is decompressed */
  end(reply: HttpReply | Promise<HttpReply>): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#end(this, reply, undefined)
  }

  /** Also a listener of a signal. */
  readonly abort = (): void => this.fail({ kind: 'aborted' })

  timeOut(): void {
    this.fail({ kind: 'timeout' })
  }

  /**
   * Ends immediately. undici aborts only requests that have a connection, and in a busy pool a request may never get
   * one.
   */
  fail(failure: ExchangeFailure): void {
    if (this.#isEnded) return
    this.#isEnded = true
    this.#end(this, undefined, failure)
    this.#controller?.abort(NO_LONGER_WANTED)
  }

  onResponseStart(_controller: Dispatcher.DispatchController, statusCode: number, headers: HttpReply['headers']): void {
    this.#status = statusCode
    this.#headers = headers
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes <= MAX_REPLY_BYTES) return
    this.#endWith(true)
    this.#controller?.abort(NO_LONGER_WANTED) // closes the connection
  }

  onResponseEnd(): void {
    this.#endWith(false)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail({ kind: this.#controller === undefined ? 'network' : 'reset', error })
  }

  #endWith(truncated: boolean): void {
    const bytes = this.#chunks.length === 1 ? (this.#chunks[0] as Buffer) : Buffer.concat(this.#chunks)
    const reply = {
      status: this.#status,
      headers: this.#headers,
      text: bytes.toString('utf8', 0, MAX_REPLY_BYTES),
      truncated,
    }
    const isEncoded = this.#headers['content-encoding'] !== undefined
    this.end(isEncoded ? decompress(reply, bytes) : reply)
  }
}

/**
 * Some gateways compress replies although requests do not allow it.
 * @returns the reply with the decompressed text, or unchanged if its body is not gzip, or too long
 */
function decompress(reply: HttpReply, body: Buffer): Promise<HttpReply> {
  // Loading takes 1.4 ms, and few replies are compressed.
  const { gunzip } = process.getBuiltinModule('node:zlib')
  return new Promise((resolve) => {
    gunzip(body, { maxOutputLength: MAX_REPLY_BYTES }, (error, text) =>
      resolve(error === null ? { ...reply, text: text.toString() } : reply),
    )
  })
}
