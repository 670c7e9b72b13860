/** Records the requests to the endpoints for tests that check a client's behavior. */
import type { Fault } from '../ingest/fault.js'
import type { Endpoint } from '../endpoints.js'

/** One HTTP request. Fields that can be null are filled in while it is handled. */
export interface RecordedRequest {
  /** Arrival of its head: milliseconds on the service's clock, by default that of `performance.now()`. */
  readonly at: number
  /** When its reply was sent or its connection ended; null while it is open. */
  readonly endedAt: number | null
  /** `unknown` for a path below the base path that is not an endpoint. */
  readonly endpoint: Endpoint | 'unknown'
  /** HTTP method. */
  readonly method: string
  /** Whether it had an `X-API-Key` header. The key is not recorded. */
  readonly keyed: boolean
  /** The body's `batch_id`, if it is a string. */
  readonly batchId: string | null
  /** Items of the body's `logs` or `requests`. */
  readonly entries: number
  /** Bytes of the body. */
  readonly bytes: number
  /** Status of the reply; null before the reply, and permanently if a fault suppressed it. */
  readonly status: number | null
  /** Entries that this request stored. */
  readonly accepted: number
  /** Open requests when this one arrived, itself included. */
  readonly concurrent: number
  /** The scripted fault that was applied. */
  readonly fault: Fault['kind'] | null
}

/** A request that is being handled. */
export type OpenRequest = { -readonly [K in keyof RecordedRequest]: RecordedRequest[K] }

export class RequestRecorder {
  readonly #maxCount: number
  readonly #now: () => number
  #requests: OpenRequest[] = []
  #open = 0

  constructor(maxCount: number, now: () => number) {
    this.#maxCount = maxCount
    this.#now = now
  }

  /** The newest `maxCount` requests, oldest first. */
  list(): readonly RecordedRequest[] {
    return this.#requests.slice(-this.#maxCount)
  }

  clear(): void {
    this.#requests = []
  }

  begin(endpoint: RecordedRequest['endpoint'], method: string, keyed: boolean): OpenRequest {
    const request: OpenRequest = {
      at: this.#now(),
      endedAt: null,
      endpoint,
      method,
      keyed,
      batchId: null,
      entries: 0,
      bytes: 0,
      status: null,
      accepted: 0,
      concurrent: ++this.#open,
      fault: null,
    }
    this.#requests.push(request)
    // Truncates in large steps to keep the average cost per request constant.
    if (this.#requests.length >= 2 * this.#maxCount) this.#requests = this.#requests.slice(-this.#maxCount)
    return request
  }

  /** Called once per request. */
  end(request: OpenRequest): void {
    request.endedAt = this.#now()
    this.#open--
  }
}
