/** Limits of a call: attempts and time. */
import { MAX_TIMER_MS } from '../shared/clock.js'
import { checkArgument, isObject, readOptions } from '../shared/argument-checks.js'
import { IngestError } from '../shared/errors.js'
import { describeHidden } from '../options/format-value.js'

/** Options of the transport that calls have as well. */
export const CALL_OPTION_NAMES = [
  'url',
  'apiKey',
  'allowInsecure',
  'tls',
  'proxy',
  'headers',
  'requestTimeoutMs',
  'retry',
] as const

export interface CallLimits {
  /** Attempts per call, including the first: an integer from 1. Default 3. */
  maxAttempts?: number | undefined
  /**
   * Milliseconds per call, including all attempts and waits: an integer from 1 to 2147483647. Default 30000.
   * A call that would have to wait longer fails at once.
   */
  timeoutMs?: number | undefined
}

/** @throws IngestError `CONFIG` if `options` is not an object, or its `signal` no AbortSignal, of any realm or library */
export function readSignal(
  owner: string,
  options: { readonly signal?: AbortSignal | undefined },
): AbortSignal | undefined {
  const { signal } = readOptions(owner, options)
  const isSignal =
    isObject(signal) &&
    typeof signal.aborted === 'boolean' &&
    typeof signal.addEventListener === 'function' &&
    typeof signal.removeEventListener === 'function'
  checkArgument(`signal of ${owner}`, 'an AbortSignal', signal === undefined || isSignal, signal)
  return signal
}

/** @throws IngestError `CONFIG` that contains the option, the rule and the value. */
export function resolveLimits({ maxAttempts = 3, timeoutMs = 30_000 }: CallLimits): {
  maxAttempts: number
  timeoutMs: number
} {
  checkInteger('maxAttempts', maxAttempts, Number.MAX_SAFE_INTEGER, 'an integer from 1')
  checkInteger('timeoutMs', timeoutMs, MAX_TIMER_MS, `an integer from 1 to ${MAX_TIMER_MS} (ms)`)
  return { maxAttempts, timeoutMs }
}

function checkInteger(name: string, value: unknown, max: number, rule: string): void {
  if (Number.isSafeInteger(value) && (value as number) >= 1 && (value as number) <= max) return
  throw new IngestError(
    'CONFIG',
    `${name} must be ${rule}, got ${mayBeKey(value) ? describeHidden(value) : String(value)}`,
  )
}

/** The invalid value may be, or contain, the API key: do not print it. */
function mayBeKey(value: unknown): boolean {
  return typeof value === 'string'
    ? value.length >= 6
    : (typeof value === 'object' && value !== null) || typeof value === 'function'
}
