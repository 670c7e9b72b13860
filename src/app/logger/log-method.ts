/**
 * [main] Keeps errors in log calls that pino does not support: `logger.error('failed', error)`, and errors of another
 * realm. Calls `onNewStream` before a logger's first record on another stream.
 */
import type { LogFn, LoggerOptions } from 'pino'
import { UNREADABLE, copyPlain, isError, readMembers } from '../../record/error-serializer.js'
import { readErrorKey, readPinoProperty, readSerializers } from './pino-symbols.js'

/** pino's option `hooks.logMethod`. */
type LogMethodHook = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>
type Arguments = unknown[]

/** The log call in progress. pino does not pass the logger to its formatters. */
export interface LogCall {
  logger: object | undefined
  /** Number of the record's level. */
  level: number
  /** The serializer of `ingestOptions()` for errors. */
  serialize?: unknown
  /** A copy of the logged fields, which the formatter may change. */
  fields?: unknown
  /** The stream of the latest call. */
  stream?: unknown
  /** Called before the first record of a logger with another stream. */
  onNewStream: (logger: object) => void
}

/**
 * Creates a hook that writes an error which pino would drop under pino's `errorKey`, and further errors in `errors`.
 * The application's own hook is called first, with the original arguments.
 *
 * @param call set while pino writes the record
 */
export function createLogMethod(appHook: LogMethodHook | undefined, call: LogCall): LogMethodHook {
  const run = (logger: object, method: LogFn, args: Arguments, level: number): void => {
    const stream = readPinoProperty(logger, 'pino.stream')
    if (stream !== call.stream) {
      call.stream = stream
      call.onNewStream(logger)
    }
    const { logger: outer, level: outerLevel, fields: outerFields } = call // a getter of the record may log, too
    call.logger = logger
    call.level = level
    try {
      const kept = replaceUnloggable(logger, keepErrors(logger, args), call.serialize)
      call.fields = kept[0]
      Reflect.apply(method, logger, kept)
    } finally {
      call.logger = outer
      call.level = outerLevel
      call.fields = outerFields
    }
  }
  if (appHook === undefined)
    return function (args, method, level) {
      run(this, method, args, level)
    }
  return function (args, method, level) {
    const keeping = function (this: object, ...changed: unknown[]): void {
      run(this, method, changed, level)
    }
    appHook.call(this, args, keeping, level)
  }
}

/** Copies the fields, so that each getter is called once, and one that throws does not fail the call. */
function keepErrors(logger: object, args: Arguments): Arguments {
  const [first, second] = args
  try {
    // Fast path for the usual calls: one argument, or fields and a message.
    const isUsual = !isObject(first) || Object.getPrototypeOf(first) === Object.prototype
    if (!isUsual || args.length > 2 || isObject(second)) {
      // pino recognizes errors by `instanceof`, and so not those of another realm.
      const isForeign = isError(first) && !(first instanceof Error)
      if (isForeign || findUnwritten(args).length > 0) return withFields(logger, args)
      if (isError(first) || isHttp(first)) return args
    }
    if (!isObject(first)) return args
    args[0] = readMembers(first) ?? { [readErrorKey(logger)]: UNREADABLE }
  } catch {
    args[0] = { [readErrorKey(logger)]: UNREADABLE }
  }
  return args
}

/** Replaces an error for which pino, or another serializer, such as pino-http's, would throw. */
function replaceUnloggable(logger: object, args: Arguments, serialize: unknown): Arguments {
  const [first, message] = args
  if (!isObject(first)) return args
  const key = readErrorKey(logger)
  const error = isError(first) ? first : (first as Record<string, unknown>)[key]
  const isForeign = readSerializers(logger)['err'] !== serialize && isError(error)
  if ((isForeign && !isLoggable(error)) || (message === undefined && !hasReadableMessage(error)))
    args[0] = { ...(first !== error && first), [key]: copyPlain(error) }
  return args
}

/** Whether pino can read the error's message, which it does in a call without one. */
function hasReadableMessage(error: unknown): boolean {
  try {
    return !isObject(error) || (error as Partial<Error>).message !== null
  } catch {
    return false
  }
}

/** Whether pino-std-serializers can serialize the value. It adds a property to each object with a text `message`, and reads its members. */
export function isLoggable(value: unknown, seen = new Set<object>()): boolean {
  try {
    if (typeof value !== 'object' || value === null || seen.has(value)) return true
    const { message, name, stack, cause, errors, constructor } = value as Partial<AggregateError>
    if (typeof message !== 'string') return true
    seen.add(value)
    const members: unknown[] = [
      name,
      stack,
      cause,
      constructor,
      ...(Array.isArray(errors) ? (errors as unknown[]) : []),
    ]
    for (const key in value) members.push((value as Record<string, unknown>)[key])
    return Object.isExtensible(value) && members.every((member) => isLoggable(member, seen))
  } catch {
    return false // a getter or a proxy that throws
  }
}

/** The same call, with its errors in the first argument. */
function withFields(logger: object, args: Arguments): Arguments {
  const [first] = args
  const unwritten = findUnwritten(args)
  if (isHttp(first)) return args
  const errorKey = readErrorKey(logger)
  const fields = isError(first) ? { [errorKey]: first } : (isObject(first) && readMembers(first)) || {}
  if (fields[errorKey] === undefined) fields[errorKey] = unwritten.shift()
  if (unwritten.length > 0 && fields['errors'] === undefined) fields['errors'] = unwritten
  const at = messageIndex(first)
  const rest = args.slice(at)
  while (isError(rest[0])) rest.shift()
  return [fields, ...rest]
}

/** Errors that pino would not write, because they replace the message or have no placeholder in it. */
function findUnwritten(args: Arguments): unknown[] {
  let at = messageIndex(args[0])
  const unwritten: unknown[] = []
  while (at > 0 && isError(args[at])) {
    unwritten.push(args[at])
    at += 1
  }
  const message = args[at]
  let formatted: readonly boolean[] | undefined
  for (let next = at + 1; next < args.length; next += 1) {
    if (!isError(args[next])) continue
    if (isObject(message)) break // pino writes all arguments as JSON
    formatted ??= findFormatted(message)
    if (formatted[next - at - 1] !== true) unwritten.push(args[next])
  }
  return unwritten
}

function messageIndex(first: unknown): 0 | 1 {
  return typeof first === 'object' || first === undefined ? 1 : 0
}

/** A placeholder of `quick-format-unescaped`, pino's formatter. It counts `100% sure`, too, but writes nothing there. */
const PLACEHOLDER = /%([^%])|%%/g

/** For each argument whether it is written into the message. */
function findFormatted(message: unknown): readonly boolean[] {
  const letters = typeof message === 'string' ? Array.from(message.matchAll(PLACEHOLDER), ([, letter]) => letter) : []
  return letters.filter((letter) => letter !== undefined).map((letter) => 'sdfioOj'.includes(letter))
}

/** Whether pino writes the value as `req` or `res`. */
function isHttp(value: unknown): boolean {
  if (!isObject(value)) return false
  const { method, headers, socket, setHeader } = value as Record<string, unknown>
  return typeof setHeader === 'function' || Boolean(method && headers && socket)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
