/** [main] Throws an error again, so that Node prints it and ends the process as it would have done before. */
import { EventEmitter } from 'node:events'
import { readFileSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isMainThread } from 'node:worker_threads'
import { rejectionMode } from '../../options/rejection-mode.js'
import { isError } from '../../record/error-serializer.js'
import { throwWithoutExcerpt } from './throw-without-excerpt.js'

const STDERR = 2
/** Node makes such an error of a rejection's reason that is not an error. */
const REJECTION_CODE = 'ERR_UNHANDLED_REJECTION'

export function isRejectionError(thrown: unknown): thrown is Error {
  return isError(thrown) && (thrown as { code?: unknown }).code === REJECTION_CODE
}

/**
 * Node prints the source line on which an error was thrown, but does not know it of an error that is thrown again. So this prints the line, and
 * then throws in a way in which Node prints none. The line is that of the error's stack. Without one, for values that are not
 * errors and for errors of Node's own modules, nothing is printed in its place.
 *
 * @param origin Node's second argument of `uncaughtException`
 */
export function raiseAgain(thrown: unknown, origin: string): void {
  const enhance = isError(thrown) && origin === 'uncaughtException' ? findEnhance(thrown) : undefined
  if (enhance !== undefined) return emitAgain(thrown, enhance)
  const mode = rejectionMode()
  const endsProcess = mode === 'strict' || (mode === 'throw' && process.listenerCount('unhandledRejection') === 0)
  const frame = isError(thrown) && !isRejectionError(thrown) ? topFrame(thrown) : undefined
  // The engine knows the place of its own errors without a file, of a JSON text for instance, if a promise is rejected with them.
  if (endsProcess && (isRejectionError(thrown) || (frame !== undefined && frame.includes('(<anonymous>)')))) {
    void Promise.reject(thrown)
    return
  }
  const excerpt = isMainThread ? excerptOf(frame, origin) : undefined
  setImmediate(() => {
    // Node prints the error after this event, in which the transport may write a line.
    if (excerpt !== undefined) process.once('exit', () => void writeSync(STDERR, excerpt))
    throwWithoutExcerpt(thrown)
  })
}

/** Node adds to an unhandled `error` event where it was emitted. */
function findEnhance(error: Error): symbol | undefined {
  return Object.getOwnPropertySymbols(error).find(({ description }) => description === 'kEnhanceStackBeforeInspector')
}

/** Emits the error again, so that Node reports it as an unhandled `error` event. */
function emitAgain(error: unknown, enhance: symbol): void {
  // Keeps the place where it was emitted first.
  Object.defineProperty(error, enhance, { configurable: false })
  setImmediate(() => void new EventEmitter().emit('error', error))
}

function topFrame(error: Error): string | undefined {
  return String(error.stack)
    .split('\n')
    .find((line) => line.startsWith('    at '))
}

/** Longer lines are minified code, of which Node shows another part. */
const MAX_LINE_CHARS = 1_000
const FILE_FRAME = /^\s+at (?:.*\()?((?:file:\/\/|\/|[a-z]:[\\/]).*?):(\d+):(\d+)\)?$/i
const THROW = /\bthrow\s[^;{}]*$/

/** As Node's `GetErrorSource` writes it: place, source line, and `^` below the keyword `throw` or what failed. */
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
