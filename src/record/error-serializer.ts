/**
 * [main] Serializes an error as plain data, in the format of pino-std-serializers' `errWithCause`: type, message,
 * stack, its own properties, nested causes and errors.
 *
 * Does not use `errWithCause` itself: it is a dependency of pino, sets a temporary property on the error (which throws
 * for a frozen error), fails if a getter throws, and omits a cause that is not an error. `err`, pino's default, reduces
 * a cause to text.
 */
import { types } from 'node:util'
import { DOM_CONSTANTS, DOM_EXCEPTION, hasDomConstants } from './dom-exception.js'
import { OMITTED, findHttpMembers } from './http-error.js'

interface SerializedError {
  [property: string]: unknown
}

/**
 * Maximum number of errors in one record, which bounds the cost of a log call. Of further errors, only type and message
 * are written.
 */
const MAX_ERRORS = 100
/**
 * Maximum number of values below one key that are searched for errors. Errors in further values are written as by pino:
 * as `{}`.
 */
const MAX_VALUES = 10_000
/** Number of values that an object counts as. */
const OBJECT_VALUES = 10
const MAX_DEPTH = 8
const UNREADABLE = '[unreadable]'
const DOM_TAG = `[object ${DOM_EXCEPTION}]`
/** Members that are written under other names or are redundant. */
const TAKEN = new Set(['type', 'message', 'stack', 'cause', 'errors', 'aggregateErrors', 'constructor'])

/**
 * The prototype of serialized errors. It makes `__proto__` an ordinary key, and without a constructor pino-http's
 * serializer keeps the type. V8 serializes an object without any prototype at half the speed.
 */
const NO_MEMBERS = Object.freeze(Object.create(null) as object)

type Serialize = (error: Error) => unknown
type Members = Record<string, unknown>

/** Also accepts errors of another realm (a vm context, as in Jest), where a DOMException is not a native error. */
export function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === Array.prototype) return false // the most common values
  return value instanceof Error || types.isNativeError(value) || Object.prototype.toString.call(value) === DOM_TAG
}

/**
 * A serializer for pino: converts errors to plain data and returns other values unchanged. Never throws, and does not
 * change its argument.
 */
export function serializeError(value: unknown): unknown {
  try {
    const error = isError(value) ? value : findSerialized(value)
    return error === undefined ? value : new ErrorWalk().plainError(error)
  } catch {
    return { type: 'Error', message: UNREADABLE } // a proxy that throws on every access
  }
}

/** pino-http passes the result of pino's own serializer, which has the error as `raw` (pino-std-serializers). */
function findSerialized(value: unknown): Error | undefined {
  if (typeof value !== 'object' || value === null || Object.hasOwn(value, 'raw')) return undefined
  const { raw } = value as { raw?: unknown }
  return isError(raw) ? raw : undefined
}

/** Serializes the errors within the values of one record. Copies containers that contain an error, and changes none. */
export class ErrorWalk {
  readonly #serialize: Serialize | undefined
  /** Created on demand, since most records have no errors under these keys. */
  #errors: Set<Error> | undefined
  readonly #open: object[] = []
  #values = MAX_VALUES

  /** @param serialize the application's own serializer */
  constructor(serialize?: Serialize) {
    this.#serialize = serialize
  }

  /** `value` itself if it contains no error. Never throws. */
  tryPlain(value: unknown): unknown {
    this.#values = MAX_VALUES
    try {
      return this.#plain(value)
    } catch {
      this.#open.length = 0
      return value // a proxy that throws, or the application's serializer
    }
  }

  #plain(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value
    const prototype: unknown = Object.getPrototypeOf(value)
    const isCommon = prototype === Object.prototype || prototype === Array.prototype
    if (isCommon || !isError(value)) {
      const isWalked =
        this.#values > 0 &&
        this.#open.length < MAX_DEPTH &&
        !this.#open.includes(value) &&
        (isCommon || !isLarge(value))
      return isWalked && typeof (value as { toJSON?: unknown }).toJSON !== 'function' ? this.#container(value) : value
    }
    if (this.#serialize !== undefined) return this.#serialize(value)
    // Errors may refer to each other.
    const errors = this.#errors
    return errors !== undefined && (errors.has(value) || errors.size >= MAX_ERRORS)
      ? named(value)
      : this.plainError(value)
  }

  plainError(error: Error): SerializedError {
    this.#errors ??= new Set()
    this.#errors.add(error)
    const plain = named(error)
    const stack = read(error, 'stack')
    if (typeof stack === 'string') plain['stack'] = stack
    const parts = read(error, 'errors')
    if (Array.isArray(parts)) plain['aggregateErrors'] = parts.map((part) => this.#plain(part))
    else if (parts !== undefined) plain['errors'] = this.#plain(parts)
    const cause = causeOf(error)
    if (cause !== undefined) plain['cause'] = this.#plain(cause)
    const isWeb = hasDomConstants(error as unknown as Record<string, unknown>)
    const isWritten = (key: string): boolean =>
      TAKEN.has(key) || (isWeb && (DOM_CONSTANTS.has(key) || (key === 'name' && error.name === plain['type'])))
    const keys: string[] = []
    for (const key in error) if (!isWritten(key)) keys.push(key)
    const http = findHttpMembers(error, keys)
    for (const key of keys) {
      const value = http?.omitted.includes(key) === true ? OMITTED : read(error, key)
      // Omits functions: a `toJSON`, as on errors of axios, would replace the result.
      if (typeof value !== 'function') plain[key] = this.#plain(value)
    }
    return Object.assign(plain, http?.exchange)
  }

  #container(container: object): unknown {
    this.#open.push(container)
    this.#values -= OBJECT_VALUES
    const copy = Array.isArray(container) ? this.#list(container as unknown[]) : this.#members(container as Members)
    this.#open.pop()
    return copy ?? container
  }

  #list(list: readonly unknown[]): unknown[] | undefined {
    let copy: unknown[] | undefined
    for (let at = 0; at < list.length && this.#values > 0; at += 1) {
      this.#values -= 1
      const plain = this.#plain(list[at])
      if (plain !== list[at]) (copy ??= [...list])[at] = plain
    }
    return copy
  }

  #members(holder: Members): Members | undefined {
    let copy: Members | undefined
    for (const key in holder) {
      if ((this.#values -= 1) < 0) break
      let value: unknown
      try {
        value = holder[key] // not by `read()`: the engine knows the keys of this loop
      } catch {
        continue // a copy has its mark
      }
      if (typeof value !== 'object' || value === null || !Object.hasOwn(holder, key)) continue
      const plain = this.#plain(value)
      if (plain !== value) define((copy ??= createCopy(holder)), key, plain)
    }
    return copy
  }
}

/** Whether the value has bytes, or is a stream or socket that refers to the whole process. */
function isLarge(value: object): boolean {
  return ArrayBuffer.isView(value) || typeof read(value, 'on') === 'function'
}

/** Keeps the prototype of a class instance, because the application's code may call its methods. */
function createCopy(holder: Members): Members {
  const prototype = Object.getPrototypeOf(holder) as object | null
  // Without a prototype, `__proto__` is an ordinary key.
  const copy = Object.create(prototype === Object.prototype ? null : prototype) as Members
  for (const key of Object.keys(holder)) define(copy, key, read(holder, key))
  return copy
}

/** Not an assignment, which would call a setter of the class. */
function define(holder: Members, key: string, value: unknown): void {
  Object.defineProperty(holder, key, { value, configurable: true, enumerable: true, writable: true })
}

function named(error: Error): SerializedError {
  const maker = read(error, 'constructor')
  const name = typeof maker === 'function' && maker.name !== DOM_EXCEPTION ? maker.name : read(error, 'name')
  const plain = Object.create(NO_MEMBERS) as SerializedError
  plain['type'] = typeof name === 'string' ? name : 'Error'
  plain['message'] = textOf(read(error, 'message'))
  return plain
}

/** The cause may be a function, as in VError. */
function causeOf(error: Error): unknown {
  const cause = read(error, 'cause')
  if (typeof cause !== 'function') return cause
  try {
    return (cause as () => unknown).call(error)
  } catch {
    return UNREADABLE
  }
}

function read(holder: object, key: string | number): unknown {
  try {
    return (holder as Record<string | number, unknown>)[key]
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
