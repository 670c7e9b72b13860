/**
 * [main] Serializes an error as plain data, in the format of pino-std-serializers' `errWithCause`: type, message,
 * stack, its own properties, nested causes and errors.
 *
 * Does not use `errWithCause` itself: it is a dependency of pino, sets a temporary property on the error (which throws
 * for a frozen error), fails if a getter throws, and omits a cause that is not an error. `err`, pino's default, reduces
 * a cause to text.
 */
import { types } from 'node:util'
import { DOM_EXCEPTION } from './dom-exception.js'
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
/** Replaces a member whose getter, proxy or `toJSON` throws. */
export const UNREADABLE = '[unreadable]'
const CIRCULAR = '[Circular]'
const DOM_TAG = `[object ${DOM_EXCEPTION}]`
/** Members that are written under other names or are redundant. */
const SEPARATE_MEMBERS = new Set(['type', 'message', 'stack', 'cause', 'errors', 'aggregateErrors'])

/**
 * The prototype of serialized errors. It makes `__proto__` an ordinary key, and without a constructor pino-http's
 * serializer keeps the type. V8 serializes an object without any prototype at half the speed.
 */
const NO_MEMBERS = Object.freeze(Object.create(null) as object)

type Members = Record<string, unknown>

/**
 * Also accepts errors of another realm (a vm context, as in Jest), where a DOMException is not a native error. Never
 * throws.
 */
export function isError(value: unknown): value is Error {
  if (typeof value !== 'object' || value === null) return false
  try {
    if (isPlainContainer(value)) return false
    return value instanceof Error || types.isNativeError(value) || Object.prototype.toString.call(value) === DOM_TAG
  } catch {
    return false // a proxy
  }
}

function isPlainContainer(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === Array.prototype
}

/**
 * A serializer for pino: converts errors to plain data and returns other values unchanged. Never throws, and does not
 * change its argument.
 */
export function serializeError(value: unknown): unknown {
  const error = findOriginal(value)
  return isError(error) ? copyPlain(error) : value
}

/** If `value` is the result of pino's serializer, which pino-http calls first, returns its `raw`: the error or its data. Otherwise returns `value`. */
export function findOriginal(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || isError(value)) return value
  const raw = read(value, 'raw')
  return (isError(raw) || isSerialized(raw)) && !Object.hasOwn(value, 'raw') ? raw : value
}

function isSerialized(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === NO_MEMBERS
}

/** The state of a copy. A plain object: calls of a class's private methods would double the time. */
interface CopyState {
  readonly serialize: ((error: Error) => unknown) | undefined
  /** Without `serialize`, the errors already written; with it, the errors that contain the current value. */
  readonly errors: Error[]
  values: number
}

interface Ancestor {
  readonly value: object
  readonly parent: Ancestor | undefined
  readonly depth: number
}

/**
 * Copies a value as plain data: errors are serialized, and a member that cannot be read is marked. Reads each member
 * once, since the copy has no getters. Never throws.
 *
 * @param serialize the application's own serializer
 */
export function copyPlain(value: unknown, serialize?: CopyState['serialize']): unknown {
  return copyValue(value, { serialize, errors: [], values: MAX_VALUES }, undefined)
}

function copyValue(value: unknown, state: CopyState, open: Ancestor | undefined): unknown {
  if (typeof value !== 'object' || value === null) return value
  try {
    const isPlain = isPlainContainer(value)
    return !isPlain && isError(value) ? copyError(value, state, open) : copyContainer(value, isPlain, state, open)
  } catch {
    return UNREADABLE
  }
}

function copyError(error: Error, state: CopyState, open: Ancestor | undefined): unknown {
  const { errors, serialize } = state
  // Errors may refer to each other.
  if (errors.length >= MAX_ERRORS || state.values <= 0 || errors.includes(error)) return named(error)
  errors.push(error)
  state.values -= OBJECT_VALUES
  if (serialize === undefined) return serializeMembers(error, state, open)
  let own: unknown = error
  try {
    own = serialize(error)
  } catch {
    // pino's serializer throws for a frozen error. The error is then serialized here.
  }
  const plain = isError(own) ? serializeMembers(own, state, open) : copyValue(own, state, open)
  errors.pop() // `serialize` is called for each occurrence of an error
  return plain
}

function serializeMembers(error: Error, state: CopyState, open: Ancestor | undefined): SerializedError {
  const plain = named(error)
  const stack = read(error, 'stack')
  if (typeof stack === 'string') plain['stack'] = stack
  const parts = copyValue(read(error, 'errors'), state, open)
  if (parts !== undefined) plain[Array.isArray(parts) ? 'aggregateErrors' : 'errors'] = parts
  const cause = read(error, 'cause')
  const caught = typeof cause === 'function' ? attempt(() => (cause as () => unknown).call(error)) : cause // as in VError
  if (caught !== undefined) plain['cause'] = copyValue(caught, state, open)
  // A DOMException inherits its members.
  if (read(error, 'DATA_CLONE_ERR') === DOMException.DATA_CLONE_ERR) {
    plain['code'] = read(error, 'code')
    const name = read(error, 'name')
    if (name !== plain['type']) plain['name'] = name
  }
  const members = Object.create(NO_MEMBERS) as Members
  for (const key of readKeys(error) ?? []) if (!SEPARATE_MEMBERS.has(key)) members[key] = read(error, key)
  const http = findHttpMembers(error, members)
  for (const key in members) {
    const value = http?.omitted.includes(key) === true ? OMITTED : members[key]
    // Omits functions: a `toJSON`, as on errors of axios, would replace the result.
    if (typeof value !== 'function') plain[key] = copyValue(value, state, open)
  }
  return Object.assign(plain, http?.exchange)
}

function copyContainer(value: object, isPlain: boolean, state: CopyState, parent: Ancestor | undefined): unknown {
  for (let at = parent; at !== undefined; at = at.parent) if (at.value === value) return CIRCULAR
  const depth = parent === undefined ? 1 : parent.depth + 1
  if (state.values <= 0 || depth > MAX_DEPTH || (!isPlain && isOpaque(value))) return value
  const toJSON = read(value, 'toJSON')
  const hasToJson = typeof toJSON === 'function'
  const json: unknown = hasToJson ? toJSON.call(value, '') : value
  if (typeof json !== 'object' || json === null) return json
  if (hasToJson && isError(json)) return copyError(json, state, parent)
  const open = { value, parent, depth }
  state.values -= OBJECT_VALUES
  if (Array.isArray(json)) {
    if (json.length > state.values) return json
    const list = [...(json as unknown[])]
    state.values -= list.length
    for (let at = 0; at < list.length; at += 1) {
      const item = list[at]
      if (typeof item === 'object' && item !== null) list[at] = copyValue(item, state, open)
    }
    return list
  }
  const copy = readMembers(json)
  if (copy === undefined) return UNREADABLE
  if (hasToJson) copy['toJSON'] = undefined // JSON.stringify does not call the `toJSON` of what `toJSON` returned
  for (const key in copy) {
    if ((state.values -= 1) < 0) break
    const member = copy[key]
    if (typeof member === 'object' && member !== null && Object.hasOwn(copy, key))
      copy[key] = copyValue(member, state, open)
  }
  return copy
}

/** The object's own members, each read once, with a mark for one that cannot be read; `undefined` if none can. */
export function readMembers(holder: object): Members | undefined {
  try {
    return { ...holder }
  } catch {
    const keys = readKeys(holder)
    return keys && Object.fromEntries(keys.map((key) => [key, read(holder, key)]))
  }
}

function readKeys(holder: object): string[] | undefined {
  try {
    return Object.keys(holder)
  } catch {
    return undefined
  }
}

/** Whether the value is not copied: binary data, a boxed primitive, a Map, a Set, or an event emitter such as a stream or a socket. */
function isOpaque(value: object): boolean {
  return (
    ArrayBuffer.isView(value) ||
    types.isBoxedPrimitive(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    typeof read(value, 'on') === 'function'
  )
}

function named(error: Error): SerializedError {
  const maker = read(error, 'constructor')
  const name = typeof maker === 'function' && maker.name !== DOM_EXCEPTION ? maker.name : read(error, 'name')
  const plain = Object.create(NO_MEMBERS) as SerializedError
  plain['type'] = typeof name === 'string' ? name : 'Error'
  const message = read(error, 'message')
  plain['message'] = typeof message === 'string' ? message : attempt(() => String(message))
  return plain
}

function read(holder: object, key: string): unknown {
  try {
    return (holder as Members)[key]
  } catch {
    return UNREADABLE
  }
}

function attempt(run: () => unknown): unknown {
  try {
    return run()
  } catch {
    return UNREADABLE
  }
}
