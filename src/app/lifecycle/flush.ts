/** [main] Waits until logged entries are acknowledged or on disk. */
import { randomUUID } from 'node:crypto'
import { checkArgument, isFunction, isObject, readOptions, readTimeoutMs } from '../../shared/argument-checks.js'
import { FLUSHED_EVENT, FLUSH_METHOD, mergeFlushResults } from '../../transport/flush-message.js'
import type { FlushReply, FlushRequest, FlushResult, Flushable } from '../../transport/flush-message.js'
import { nativeSetImmediate, systemClock } from '../../shared/clock.js'
import { isWorkerStream, findLoggerStreams } from '../logger/logger-streams.js'

/** Options of `flush()`. */
export interface FlushOptions {
  /** Milliseconds; a negative number means 0. Default 5000. */
  readonly timeoutMs?: number
}

/** The used part of pino's stream to its worker. */
interface WorkerStream {
  readonly ready?: boolean
  readonly destroyed?: boolean
  emit(event: 'message', message: FlushRequest): boolean
  on(event: typeof FLUSHED_EVENT, listener: (reply: FlushReply) => void): void
  once(event: 'ready', listener: () => void): void
  flush(callback?: () => void): void
  flushSync(): void
}

interface Writing {
  write: (...args: unknown[]) => unknown
}

/** What is known of a stream since its first flush. */
interface StreamState {
  /** Records written to it, counted by `write`. */
  written: number
  write: Writing['write'] | undefined
  /** The latest result, and the records written before that flush. */
  latest: { readonly written: number; readonly result: FlushResult } | undefined
  /** By id, what to do with the worker's reply. */
  readonly waiting: Map<string, (result: FlushResult) => void>
  /** Whether a listener of `ready` will flush the stream. */
  hasReadyListener: boolean
}

const DEFAULT_TIMEOUT_MS = 5_000
/** Milliseconds reserved for the worker's reply to arrive. */
const ANSWER_MS = 100

const states = new WeakMap<object, StreamState>()
/** Number of times that the event loop was empty, since the first flush. */
let beforeExits: number | undefined

/**
 * Resolves when everything logged before is acknowledged by the log service, or is on disk during an outage, or when the time
 * is over. Works with one target, several, a pipeline and `ingestStream()`. In an outage it starts an attempt within
 * 250 ms, and returns `spooled` before the time is over only after that attempt has failed.
 *
 * @param logger a pino logger, or one of its children
 * @returns the state and the account; without this package's transport behind the logger `timeout`, at once. No state of the logger or
 * of the log service rejects it.
 * @throws IngestError `CONFIG`, as a rejection, if `logger` is not an object or `timeoutMs` not a number.
 */
export async function flush(logger: object, options: FlushOptions = {}): Promise<FlushResult> {
  checkLogger('flush()', logger)
  const { timeoutMs: given = DEFAULT_TIMEOUT_MS } = readOptions('flush()', options)
  const timeoutMs = readTimeoutMs('timeoutMs of flush()', given)
  const streams = findLoggerStreams(logger).filter(isFlushableStream)
  if (streams.length === 0) return { state: 'timeout' }
  trackBeforeExit()
  return mergeFlushResults(await Promise.all(streams.map((stream) => flushStream(stream, timeoutMs))))
}

/**
 * Wraps a handler of a serverless function: when it has ended, what it logged is flushed, before the platform freezes the process.
 *
 * @param handler may be asynchronous; gets the arguments and `this` of each call
 * @param logger as that of `flush()`
 * @returns a handler with the result, or the error, of `handler`
 * @throws IngestError `CONFIG`, as `flush()`, and if `handler` is not a function.
 */
export function withFlush<This, Args extends unknown[], Result>(
  handler: (this: This, ...args: Args) => Result | Promise<Result>,
  logger: object,
  options: FlushOptions = {},
): (this: This, ...args: Args) => Promise<Result> {
  checkArgument('the handler of withFlush()', 'a function', isFunction(handler), handler)
  checkLogger('withFlush()', logger)
  const { timeoutMs = DEFAULT_TIMEOUT_MS } = readOptions('withFlush()', options)
  readTimeoutMs('timeoutMs of withFlush()', timeoutMs)
  return async function (...args) {
    try {
      return await Reflect.apply(handler, this, args)
    } finally {
      await flush(logger, { timeoutMs })
    }
  }
}

/** @throws IngestError `CONFIG` */
export function checkLogger(owner: string, logger: unknown): void {
  checkArgument(`the logger of ${owner}`, 'a pino logger', isObject(logger), logger)
}

async function flushStream(stream: Flushable | WorkerStream, timeoutMs: number): Promise<FlushResult> {
  const state = states.get(stream) ?? trackStream(stream)
  const { written, latest } = state
  // Unknown if something else has replaced the method since.
  const isNothingNew = latest?.written === written && (stream as unknown as Writing).write === state.write
  const exits = beforeExits ?? 0
  // A flush in a listener of `beforeExit` lets Node emit the event again: without these limits, the process would never end.
  if (latest !== undefined && ((isNothingNew && exits > 0) || exits > 1))
    return isNothingNew ? latest.result : { state: 'timeout' }
  const result = await (FLUSH_METHOD in stream
    ? stream[FLUSH_METHOD](timeoutMs)
    : flushWorker(stream, state, timeoutMs))
  state.latest = { written, result }
  return result
}

function trackBeforeExit(): void {
  if (beforeExits !== undefined) return
  beforeExits = 0
  process.prependListener('beforeExit', () => (beforeExits = (beforeExits ?? 0) + 1))
}

function trackStream(stream: Flushable | WorkerStream): StreamState {
  const state: StreamState = {
    written: 0,
    write: undefined,
    latest: undefined,
    waiting: new Map(),
    hasReadyListener: false,
  }
  states.set(stream, state)
  const { write } = stream as unknown as Writing
  state.write = (stream as unknown as Writing).write = function (...args) {
    state.written += 1
    return Reflect.apply(write, this, args)
  }
  if (!(FLUSH_METHOD in stream)) stream.on(FLUSHED_EVENT, ({ id, ...result }) => state.waiting.get(id)?.(result))
  return state
}

async function flushWorker(stream: WorkerStream, state: StreamState, timeoutMs: number): Promise<FlushResult> {
  // `ingestOptions()` replaces a worker in the turn after its end.
  if (stream.destroyed === true) await new Promise((resolve) => nativeSetImmediate(resolve))
  if (stream.destroyed === true) return { state: 'timeout' }
  return new Promise((resolve) => {
    const id = randomUUID()
    const finish = (result: FlushResult): void => {
      cancelEnd()
      cancel()
      state.waiting.delete(id)
      resolve(result)
    }
    const cancel = systemClock.timer(timeoutMs, () => finish({ state: 'timeout' }))
    state.waiting.set(id, finish)
    const send = (step: FlushRequest['step']): void =>
      void stream.emit('message', { code: 'PINO_INGEST_FLUSH', step, id, leftMs })
    const leftMs = timeoutMs - ANSWER_MS
    const cancelEnd = systemClock.timer(leftMs, () => send('end'))
    try {
      send('begin')
      sendWhenRead(stream, state, () => send('read'))
    } catch {
      finish({ state: 'timeout' }) // the worker has ended
    }
  })
}

/** Sends the step `read` when the worker has read all records written before, or makes thread-stream send its own message. */
function sendWhenRead(stream: WorkerStream, state: StreamState, sendRead: () => void): void {
  // thread-stream writes in `setImmediate`, which never runs with the fake timers of a test.
  if (globalThis.setImmediate !== nativeSetImmediate) {
    stream.flushSync()
    return sendRead()
  }
  // Version 3 of thread-stream does not wait for what it writes later in this turn.
  if (!notifiesWorker(stream)) return void nativeSetImmediate(() => stream.flush(sendRead))
  if (stream.ready !== false) return stream.flush()
  // Once for all flushes: thread-stream would add two listeners for each.
  if (state.hasReadyListener) return
  state.hasReadyListener = true
  stream.once('ready', () => {
    state.hasReadyListener = false
    stream.flush()
  })
}

/**
 * thread-stream 4 sends a flush to the worker and keeps the process alive until its callback, in an outage possibly
 * forever; so no callback is passed. Version 3, used by pino 9, calls back when the worker has read everything that was passed to it.
 */
function notifiesWorker(stream: object): boolean {
  const symbol = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kImpl')
  const inside =
    symbol === undefined ? undefined : (stream as Record<symbol, { flushCallbacks?: unknown } | undefined>)[symbol]
  return inside?.flushCallbacks instanceof Map
}

function isFlushableStream(stream: object): stream is Flushable | WorkerStream {
  return FLUSH_METHOD in stream || ('flush' in stream && isWorkerStream(stream))
}
