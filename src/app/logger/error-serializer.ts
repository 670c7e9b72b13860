/**
 * [main] Serializes an error as plain data, in the shape of pino-std-serializers' `errWithCause`: type, message, stack, its own
 * properties, nested causes and errors.
 *
 * `errWithCause` itself is not used: it is a dependency of pino, sets a temporary property on the error (which throws if the error is
 * frozen), fails if a getter throws, and omits a cause that is not an error. `err`, pino's default, reduces a cause to text.
 */
import { types } from 'node:util'
import { OMITTED, findHttpMembers } from '../../record/http-error.js'

interface SerializedError {
  [property: string]: unknown
}

/** Maximum of errors in one tree; of further errors only the name is written. */
const MAX_ERRORS = 100
const UNREADABLE = '[unreadable]'
/** Written under other names, or redundant. */
const TAKEN = new Set(['type', 'message', 'stack', 'cause', 'errors', 'aggregateErrors', 'constructor'])

/** Also accepts errors of another realm (a vm context, as in Jest). */
export function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && (value instanceof Error || types.isNativeError(value))
}

/** A serializer for pino: errors become plain data, other values are returned unchanged. Never throws, and does not change its argument. */
export function serializeError(value: unknown): unknown {
  try {
    return isError(value) ? plainError(value, new Set()) : value
  } catch {
    return { type: 'Error', message: UNREADABLE } // a proxy that throws on every access
  }
}

function plainError(error: Error, seen: Set<unknown>): SerializedError {
  seen.add(error)
  const plain = named(error)
  const stack = read(error, 'stack')
  if (typeof stack === 'string') plain['stack'] = stack
  const parts = read(error, 'errors')
  if (Array.isArray(parts)) plain['aggregateErrors'] = parts.map((part) => nested(part, seen))
  else if (parts !== undefined) plain['errors'] = nested(parts, seen)
  const cause = causeOf(error)
  if (cause !== undefined) plain['cause'] = nested(cause, seen)
  const keys: string[] = []
  for (const key in error) if (!TAKEN.has(key)) keys.push(key)
  const http = findHttpMembers(error, keys)
  for (const key of keys) {
    const value = http?.omitted.includes(key) === true ? OMITTED : read(error, key)
    // Functions are omitted: one named `toJSON`, as on errors of axios, would replace the result.
    if (typeof value !== 'function') plain[key] = nested(value, seen)
  }
  return Object.assign(plain, http?.exchange)
}

/** Serializes each error once, since errors may refer to each other. */
function nested(value: unknown, seen: Set<unknown>): unknown {
  if (!isError(value)) return value
  return seen.has(value) || seen.size >= MAX_ERRORS ? named(value) : plainError(value, seen)
}

function named(error: Error): SerializedError {
  const maker = read(error, 'constructor')
  const name = typeof maker === 'function' ? maker.name : read(error, 'name')
  // Without a prototype `__proto__` is an ordinary key, and pino-http's serializer keeps the type.
  return Object.assign(Object.create(null) as SerializedError, {
    type: typeof name === 'string' ? name : 'Error',
    message: textOf(read(error, 'message')),
  })
}

/** VError has a function `cause()`. */
function causeOf(error: Error): unknown {
  const cause = read(error, 'cause')
  if (typeof cause !== 'function') return cause
  try {
    return (cause as () => unknown).call(error)
  } catch {
    return UNREADABLE
  }
}

function read(error: Error, key: string): unknown {
  try {
    return (error as unknown as Record<string, unknown>)[key]
  } catch {
    return UNREADABLE
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return String(value)
  } catch {
    return UNREADABLE
  }
}
