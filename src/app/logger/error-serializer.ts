/**
 * [main] An error as plain data, in the shape of pino-std-serializers' `errWithCause`: type, message, stack, its own
 * properties, causes and parts within.
 *
 * Not theirs, since that is pino's to load, marks the error itself for a while (which a frozen one refuses by throwing), fails
 * with a getter that throws, and leaves out a cause that is no error. Their `err`, pino's default, keeps nothing of a cause but text.
 */
import { types } from 'node:util'
import { OMITTED, findHttpMembers } from '../../record/http-error.js'

interface SerializedError {
  [property: string]: unknown
}

/** Errors in one tree; beyond it they are named only. */
const MAX_ERRORS = 100
const UNREADABLE = '[unreadable]'
/** Written under other names, or redundant. */
const TAKEN = new Set(['type', 'message', 'stack', 'cause', 'errors', 'aggregateErrors', 'constructor'])

/** Also of another realm (a vm context, as in Jest). */
export function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && (value instanceof Error || types.isNativeError(value))
}

/** A serializer for pino: errors become plain data, whatever else is returned as it is. Never throws, changes nothing. */
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
    // A function is never written, but one called `toJSON`, as axios had it, would replace all this.
    if (typeof value !== 'function') plain[key] = nested(value, seen)
  }
  return Object.assign(plain, http?.exchange)
}

/** Each error once: those that refer to each other would never end. */
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

/** VError's is a function. */
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
