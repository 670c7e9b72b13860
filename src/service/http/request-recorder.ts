/** The log of what came in at the interface's endpoints, for tests to judge a client by. */
import type { Endpoint } from './endpoints.js'
import type { Fault } from '../ingest/fault.js'

/** One HTTP request. The fields that can be null are filled in as the request goes on. */
export interface RecordedRequest {
  /** When its head had come: milliseconds on the service's clock, by default that of `performance.now()`. */
  readonly at: number
  /** When its reply was sent or its connection ended; null while it is open. */
  readonly endedAt: number | null
  /** `unknown` for a path below the base path that is no endpoint. */
  readonly endpoint: Endpoint | 'unknown'
  readonly method: string
  /** Whether an `X-API-Key` header came; never which. */
  readonly keyed: boolean
  /** The body's `batch_id`, where it was text. */
  readonly batchId: string | null
  /** Items of the body's `logs` or `requests`. */
  readonly entries: number
  /** Bytes of the body as they came, compressed where it was. */
  readonly bytes: number
  readonly gzip: boolean
  /** Status answered; null while there is none, and for good where a fault kept the reply back. */
  readonly status: number | null
  /** Entries that this request had stored. */
  readonly accepted: number
  /** Requests open when this one came, itself included. */
  readonly concurrent: number
  /** The scripted fault that was played. */
  readonly fault: Fault['kind'] | null
}

/** The same while it is being filled in. */
export type OpenRequest = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] }

export class RequestRecorder {
  readonly #maxCount: number
  readonly #now: () => number
  #calls: OpenRequest[] = []
  #open = 0

  constructor(maxCount: number, now: () => number) {
    this.#maxCount = maxCount
    this.#now = now
  }

  /** The newest `maxCount`, oldest first. */
  list(): readonly RecordedRequest[] {
    return this.#calls.slice(-this.#maxCount)
  }

  clear(): void {
    this.#calls = []
  }

  begin(endpoint: RecordedRequest['endpoint'], method: string, keyed: boolean): OpenRequest {
    const call: OpenRequest = {
      at: this.#now(),
      endedAt: null,
      endpoint,
      method,
      keyed,
      batchId: null,
      entries: 0,
      bytes: 0,
      gzip: false,
      status: null,
      accepted: 0,
      concurrent: ++this.#open,
      fault: null,
    }
    this.#calls.push(call)
    // Cut in large steps, so that a call costs the same whatever the length.
    if (this.#calls.length >= 2 * this.#maxCount) this.#calls = this.#calls.slice(-this.#maxCount)
    return call
  }

  end(call: OpenRequest): void {
    if (call.endedAt !== null) return
    call.endedAt = this.#now()
    this.#open--
  }
}
