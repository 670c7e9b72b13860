/**
 * [main] Keeps errors in log calls that pino does not support: `logger.error('failed', error)`, and errors of another
 * realm. Calls `onNewStream` before a logger's first record on another stream.
 */
import type { LogFn, LoggerOptions } from 'pino'
import { isError } from '../../record/error-serializer.js'
import { readPinoProperty } from './pino-symbols.js'

/** pino's option `hooks.logMethod`. */
type LogMethodHook = NonNullable<NonNullable<LoggerOptions['hooks']>['logMethod']>
type Arguments = readonly unknown[]

/** The log call in progress. pino does not pass the logger to its formatters. */
export interface LogCall {
  logger: object | undefined
  /** Number of the record's level. */
  level: number
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
    const { logger: outer, level: outerLevel } = call // a getter of the record may log, too
    call.logger = logger
    call.level = level
    try {
      Reflect.apply(method, logger, keepErrors(logger, args))
    } finally {
      call.logger = outer
      call.level = outerLevel
    }
  }
  if (appHook === undefined)
    return function (args, method, level) {
      run(this, method, args, level)
    }
  const methods = new WeakMap<LogFn, LogFn>()
  return function (args, method, level) {
    let keeping = methods.get(method)
    if (keeping === undefined) {
      keeping = function (this: object, ...changed: unknown[]) {
        run(this, method, changed, level)
      }
      methods.set(method, keeping)
    }
    appHook.call(this, args, keeping, level)
  }
}

function keepErrors(logger: object, args: Arguments): Arguments {
  try {
    const [first, second] = args
    // Fast path for the usual calls: one argument, or fields and a message.
    const isFastPath = typeof first !== 'object' || first === null || Object.getPrototypeOf(first) === Object.prototype
    if (isFastPath && (args.length < 2 || (args.length === 2 && typeof second !== 'object'))) return args
    return isForeignError(first) || findUnwritten(args).length > 0 ? withFields(logger, args) : args
  } catch {
    return args // a proxy that throws
  }
}

/** Whether the value is an error of another realm, which pino does not recognize because it uses `instanceof`. */
function isForeignError(value: unknown): boolean {
  return isError(value) && !(value instanceof Error)
}

/** The same call, with its errors in the first argument. */
function withFields(logger: object, args: Arguments): Arguments {
  const [first] = args
  const unwritten = findUnwritten(args)
  if (isHttp(first)) return args
  const key = readPinoProperty(logger, 'pino.errorKey')
  const errorKey = typeof key === 'string' ? key : 'err'
  const hasFields = isObject(first)
  const fields: Record<string, unknown> = isError(first) ? { [errorKey]: first } : hasFields ? { ...first } : {}
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
  let formatted: ReadonlySet<number> | undefined
  for (let next = at + 1; next < args.length; next += 1) {
    if (!isError(args[next])) continue
    if (isObject(message)) break // pino writes all arguments as JSON
    formatted ??= findFormatted(message, args.slice(at + 1))
    if (!formatted.has(next - at - 1)) unwritten.push(args[next])
  }
  return unwritten
}

function messageIndex(first: unknown): 0 | 1 {
  return typeof first === 'object' || first === undefined ? 1 : 0
}

const PERCENT = 37
const NUMBERS = 'dfi'
const VALUES = 'oOj'

/** Positions of the arguments that `quick-format-unescaped`, pino's formatter, writes into the message. */
function findFormatted(message: unknown, args: Arguments): ReadonlySet<number> {
  const formatted = new Set<number>()
  if (typeof message !== 'string') return formatted
  for (let at = 0, index = 0; at + 1 < message.length; at += 1) {
    if (message.charCodeAt(at) !== PERCENT) continue
    const letter = message.charAt(at + 1)
    if (letter === '%') {
      at += 1
      continue
    }
    const value = args[index]
    const isWritten =
      index < args.length &&
      (letter === 's' ||
        (NUMBERS.includes(letter) && value !== undefined && value !== null) ||
        (VALUES.includes(letter) && value !== undefined))
    if (isWritten) {
      formatted.add(index)
      at += 1
    }
    index += 1 // pino counts `100% sure`, too
  }
  return formatted
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
