/**
 * Detects that the application uses unknown keys for requests: its records look like requests but produce no request
 * log.
 */
import { PINO_HTTP_ABORT } from './request-log.js'

/** Number of consecutive examined records. */
export const MISSED_LIMIT = 100
/** After a record that does not look like a request, fewer than this number of records are skipped. */
const MAX_SKIP = 16

/** A response's status, a duration, or a message of pino-http or Fastify, under any key. Most lines have none. */
const SIGN = /"status(?:_?[cC]ode)?":[1-9]\d\d[,}]|"response_?[tT]ime"|"message":"request (?:completed|errored)"/
const END_MESSAGES: readonly unknown[] = ['request completed', 'request errored']
const STATUS_KEYS = ['statusCode', 'status_code', 'status']
const DURATION_KEYS = ['responseTime', 'response_time']

export class MissedRequests {
  #inRow = 0
  /** Records to skip, since each search takes 0.2 us. */
  #skip = 0
  #isReported = false

  /**
   * @param entryJson of a record without a request log
   * @returns true once, after 100 consecutive examined records that look like requests
   */
  add(entryJson: string): boolean {
    if (this.#isReported || this.#skip-- > 0) return false
    if (!SIGN.test(entryJson) || !looksLikeRequest(entryJson)) {
      // Random, because a fixed number could always skip the same record of each request.
      this.#skip = Math.floor(Math.random() * MAX_SKIP)
      return false
    }
    this.#inRow += 1
    this.#isReported = this.#inRow === MISSED_LIMIT
    return this.#isReported
  }

  /** Called for a record that produced a request log. */
  reset(): void {
    this.#inRow = 0
    this.#skip = MISSED_LIMIT
  }
}

function looksLikeRequest(entryJson: string): boolean {
  const {
    message,
    request,
    metadata = {},
  } = JSON.parse(entryJson) as Record<string, Record<string, unknown> | undefined>
  if ((message as unknown) === PINO_HTTP_ABORT) return false
  if (END_MESSAGES.includes(message) || request?.['status_code'] !== undefined) return true
  if (isStatus(metadata, 'statusCode') || isStatus(metadata, 'status_code')) return true
  return Object.entries(metadata).some(([key, value]) => {
    if (key === 'error') return false // an HTTP client's
    return DURATION_KEYS.includes(key) || STATUS_KEYS.some((name) => isStatus(value, name))
  })
}

function isStatus(value: unknown, name: string): boolean {
  const status = (value as Record<string, unknown> | null)?.[name]
  return typeof status === 'number' && status >= 100 && status <= 999
}
