/** A scripted fault: a closed union, matched exhaustively where it is applied. */
import type { Endpoint } from '../endpoints.js'

/** The requests that a fault applies to. By default all requests to all endpoints, until it is removed. */
export interface FaultScope {
  /** Endpoint whose requests are affected. Default: all. */
  readonly endpoint?: Endpoint
  /** Number of requests after which the fault ends. */
  readonly times?: number
  /** Milliseconds after which the fault ends, counted from its addition. */
  readonly forMs?: number
  /** Milliseconds to wait after the request's body was read. */
  readonly delayMs?: number
}

/** Answers with this status and stores nothing. */
export interface StatusFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'status'
  /** 200 to 599. */
  readonly status: number
  /** Sent as JSON; a string as plain text. Default: a `detail` that names a scripted fault. */
  readonly body?: unknown
  /** `Retry-After`: seconds, or text (an HTTP date). */
  readonly retryAfter?: number | string
}

/** Answers as usual, after `delayMs`. */
export interface DelayFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'delay'
  readonly delayMs: number
}

/** Reads the request and never answers it. */
export interface HangFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'hang'
}

/** Handles the request as usual and sends the reply's body byte by byte. */
export interface SlowFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'slow'
  /** Bytes of the body that are sent each second. */
  readonly bytesPerSecond: number
}

/**
 * Resets the connection: `before-body` after the request's head, `mid-body` after the first part of its body, `mid-reply` after
 * half of the reply's body; only for `mid-reply` the request was handled and stored.
 */
export interface ResetFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'reset'
  /** When the connection is reset. */
  readonly when: 'before-body' | 'mid-body' | 'mid-reply'
}

/** Handles and stores as usual, then resets the connection instead of replying. */
export interface DropReplyFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'drop-reply'
}

/** Redirects and stores nothing. */
export interface RedirectFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'redirect'
  /** Header `Location`: the target of the redirect. */
  readonly location: string
  /** Default 307. */
  readonly status?: 301 | 302 | 303 | 307 | 308
}

/** How a refusal is reported: in the ingest result, by the framework's `loc`, or by a 400 that names no entry. The last two refuse the whole request. */
export type RejectForm = 'result' | 'framework' | 'nameless'

/**
 * Refuses every n-th entry. An entry that is sent again (the same JSON) gets the same result and is not counted again, as for an
 * entry that is really invalid. Applies to `ingest` only.
 */
export interface RejectEveryFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'reject-every'
  /** Every `nth` entry is rejected. */
  readonly nth: number
  /** Default `result`. */
  readonly form?: RejectForm
}

/** Refuses every entry whose JSON contains this text. Applies to `ingest` only. */
export interface RejectContainingFault extends FaultScope {
  /** Selects this fault. */
  readonly kind: 'reject-containing'
  /** Text that an entry must contain to be rejected. */
  readonly text: string
  /** Default `result`. */
  readonly form?: RejectForm
}

/** A scripted fault for `faults.add()`, selected by `kind`. */
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
