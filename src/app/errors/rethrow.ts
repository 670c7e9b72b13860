/** [main] Throws an error again, so Node prints it and exits as it would have done the first time. */
import { EventEmitter } from 'node:events'
import { readFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { findRejectionMode } from '../../options/rejection-mode.js'
import { isError } from '../../record/error-serializer.js'

const STDERR = 2
/** Code of the error that Node creates if the reason of a rejection is not an error. */
const REJECTION_CODE = 'ERR_UNHANDLED_REJECTION'

export function isRejectionError(thrown: unknown): thrown is Error {
  return isError(thrown) && (thrown as { code?: unknown }).code === REJECTION_CODE
}

/**
 * Node prints the source line of the `throw` statement, which is wrong for an error that is thrown again. So this
 * function prints the original line, which it finds with the error's stack. The build makes Node print none
 * for this package. For values that are not errors and for errors of Node's own modules, no line is printed.
 *
 * @param origin Node's second argument of `uncaughtException`
 */
export function rethrow(thrown: unknown, origin: string): void {
  const enhance = isError(thrown) && origin === 'uncaughtException' ? findEnhance(thrown) : undefined
  if (enhance !== undefined) return emitAgain(thrown, enhance)
  const mode = findRejectionMode()
  const endsProcess = mode === 'strict' || (mode === 'throw' && process.listenerCount('unhandledRejection') === 0)
  const frame = isError(thrown) && !isRejectionError(thrown) ? topFrame(thrown) : undefined
  // For its own errors without a file, such as a JSON syntax error in a rejected promise, the engine knows the
  // position.
  if (endsProcess && (isRejectionError(thrown) || (frame !== undefined && frame.includes('(<anonymous>)')))) {
    void Promise.reject(thrown)
    return
  }
  const excerpt = isMainThread ? excerptOf(frame, origin) : undefined
  setImmediate(() => {
    // Printed in this event, because the transport may also write a line in it, and Node prints the error afterwards.
    if (excerpt !== undefined) process.once('exit', () => void writeSync(STDERR, excerpt))
    throw thrown
  })
}

/** The symbol under which Node stores a function that adds the position of `emit()` to an unhandled `error` event. */
function findEnhance(error: Error): symbol | undefined {
  return Object.getOwnPropertySymbols(error).find(({ description }) => description === 'kEnhanceStackBeforeInspector')
}

/** Emits the error again, so Node reports it as an unhandled `error` event. */
function emitAgain(error: unknown, enhance: symbol): void {
  // Keeps the position where the event was emitted first.
  Object.defineProperty(error, enhance, { configurable: false })
  setImmediate(() => void new EventEmitter().emit('error', error))
}

function topFrame(error: Error): string | undefined {
  return String(error.stack)
    .split('\n')
    .find((line) => line.startsWith('    at '))
}

/** Longer lines are minified code, where Node shows a different part. */
const MAX_LINE_CHARS = 1_000
const FILE_FRAME = /^\s+at (?:.*\()?((?:file:\/\/|\/|[a-z]:[\\/]).*?):(\d+):(\d+)\)?$/i
const THROW = /\bthrow\s[^;{}]*$/

/**
 * Same format as Node's `GetErrorSource`: position, source line, and `^` below the keyword `throw` or the failed
 * expression.
 */
function excerptOf(frame: string | undefined, origin: string): string | undefined {
  const [, file, line, column] = FILE_FRAME.exec(frame ?? '') ?? []
  if (file === undefined || process.sourceMapsEnabled === true) return undefined
  try {
    const text = readFileSync(file.startsWith('file:') ? fileURLToPath(file) : file, 'utf8')
    const source = text.split(/\r\n|[\n\r\u2028\u2029]/)[Number(line) - 1] ?? ''
    const before = source.slice(0, Number(column) - 1)
    if (source.length > MAX_LINE_CHARS || before.length < Number(column) - 1) return undefined
    const thrownAt = origin === 'uncaughtException' ? before.search(THROW) : -1
    const indent = (thrownAt === -1 ? before : before.slice(0, thrownAt)).replace(/[^\t]/g, ' ')
    return `${file}:${line}\n${source}\n${indent}^\n\n`
  } catch {
    return undefined // the file cannot be read
  }
}
