/** A scripted fault: a closed union, matched exhaustively where it is played. */
import type { Endpoint } from '../http/endpoints.js'

/** Which requests a fault applies to. Without any of these: every request to every endpoint until it is cleared. */
export interface FaultScope {
  readonly endpoint?: Endpoint
  /** So many requests, then it is over. */
  readonly times?: number
  /** So long from when it was added, in milliseconds, then it is over. */
  readonly forMs?: number
  /** Milliseconds to wait, once the request's body has been read, before anything else happens. */
  readonly delayMs?: number
}

/** Answers with this status and stores nothing. */
export interface StatusFault extends FaultScope {
  readonly kind: 'status'
  /** 200 to 599. */
  readonly status: number
  /** Sent as JSON; a string is sent as plain text. Default: a `detail` that says it was scripted. */
  readonly body?: unknown
  /** `Retry-After`: seconds, or text as it stands (an HTTP date). */
  readonly retryAfter?: number | string
}

/** Answers as usual, after `delayMs`. */
export interface DelayFault extends FaultScope {
  readonly kind: 'delay'
  readonly delayMs: number
}

/** Reads the request and never answers. */
export interface HangFault extends FaultScope {
  readonly kind: 'hang'
}

/** Handles the request as usual and sends the reply's body byte by byte. */
export interface SlowFault extends FaultScope {
  readonly kind: 'slow'
  readonly bytesPerSecond: number
}

/**
 * Resets the connection: `before-body` when the request's head has come, `mid-body` when the first part of its body
 * has come, `mid-reply` after half of the reply's body, the request having been handled and stored.
 */
export interface ResetFault extends FaultScope {
  readonly kind: 'reset'
  readonly when: 'before-body' | 'mid-body' | 'mid-reply'
}

/** Handles and stores as usual, then resets the connection in place of the reply. */
export interface DropReplyFault extends FaultScope {
  readonly kind: 'drop-reply'
}

/** Redirects and stores nothing. */
export interface RedirectFault extends FaultScope {
  readonly kind: 'redirect'
  readonly location: string
  /** Default 307. */
  readonly status?: 301 | 302 | 303 | 307 | 308
}

/**
 * How a refused entry is told: in the ingest result, by the framework's `loc`, or by a 400 that names nothing. The
 * last two refuse the whole request.
 */
export type RejectForm = 'result' | 'framework' | 'nameless'

/**
 * Refuses every n-th entry it sees. An entry that comes again (the same JSON) gets the same verdict and is not counted
 * again, as it would be for an entry that is really invalid. Applies to `ingest` alone.
 */
export interface RejectEveryFault extends FaultScope {
  readonly kind: 'reject-every'
  readonly nth: number
  /** Default `result`. */
  readonly form?: RejectForm
}

/** Refuses every entry whose JSON has this text. Applies to `ingest` alone. */
export interface RejectContainingFault extends FaultScope {
  readonly kind: 'reject-containing'
  readonly text: string
  /** Default `result`. */
  readonly form?: RejectForm
}

export type Fault =
  | StatusFault
  | DelayFault
  | HangFault
  | SlowFault
  | ResetFault
  | DropReplyFault
  | RedirectFault
  | RejectEveryFault
  | RejectContainingFault
