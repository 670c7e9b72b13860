/** [main] Waits until logged entries are acknowledged or on disk. */
import { randomUUID } from 'node:crypto'
import { checkArgument, isObject, readOptions, readTimeoutMs } from '../../shared/argument-checks.js'
import { FLUSHED_EVENT, FLUSH_METHOD, mergeFlushResults } from '../../transport/flush-message.js'
import type { FlushReply, FlushRequest, FlushResult, Flushable } from '../../transport/flush-message.js'
import { isWorkerStream, findLoggerStreams } from '../logger/logger-streams.js'

/** Options of `flush()`. */
export interface FlushOptions {
  /** Milliseconds; a negative number means 0. Default 5000. */
  readonly timeoutMs?: number
}

/** The used part of pino's stream to its worker. */
interface WorkerStream {
  emit(event: 'message', message: FlushRequest): boolean
  on(event: typeof FLUSHED_EVENT, listener: (reply: FlushReply) => void): void
  off(event: typeof FLUSHED_EVENT, listener: (reply: FlushReply) => void): void
  flush(callback?: () => void): void
}

const DEFAULT_TIMEOUT_MS = 5_000
/** Milliseconds reserved for the worker's reply to arrive. */
const ANSWER_MS = 100

/**
 * Resolves when everything logged before is acknowledged by the service, or is on disk while the service is down, or
 * when the time is over. Works with one target, several, a pipeline and `ingestStream()`. In an outage it starts an
 * attempt within `retry.minMs`, and returns `spooled` only after that attempt has failed.
 *
 * @param logger a pino logger, or one of its children
 * @returns the state and the account; without this package's transport behind the logger `timeout`, at once. No state of the logger or
 * of the service rejects it.
 * @throws IngestError `CONFIG`, as a rejection, if `logger` is not an object or `timeoutMs` not a number.
 */
export async function flush(logger: object, options: FlushOptions = {}): Promise<FlushResult> {
  checkLogger('flush()', logger)
  const { timeoutMs: given = DEFAULT_TIMEOUT_MS } = readOptions('flush()', options)
  const timeoutMs = readTimeoutMs('timeoutMs of flush()', given)
  const streams = findLoggerStreams(logger).filter(isFlushableStream)
  if (streams.length === 0) return { state: 'timeout' }
  return mergeFlushResults(await Promise.all(streams.map((stream) => flushStream(stream, timeoutMs))))
}

/** @throws IngestError `CONFIG` */
export function checkLogger(owner: string, logger: unknown): void {
  checkArgument(`the logger of ${owner}`, 'a pino logger', isObject(logger), logger)
}

function flushStream(stream: Flushable | WorkerStream, timeoutMs: number): Promise<FlushResult> {
  return FLUSH_METHOD in stream ? stream[FLUSH_METHOD](timeoutMs) : flushWorker(stream, timeoutMs)
}

function flushWorker(stream: WorkerStream, timeoutMs: number): Promise<FlushResult> {
  return new Promise((resolve) => {
    const id = randomUUID()
    const finish = (result: FlushResult): void => {
      clearTimeout(timer)
      stream.off(FLUSHED_EVENT, onFlushed)
      resolve(result)
    }
    const onFlushed = ({ id: answeredId, ...result }: FlushReply): void => {
      if (answeredId === id) finish(result)
    }
    const timer = setTimeout(() => finish({ state: 'timeout' }), timeoutMs)
    const request: FlushRequest = {
      code: 'PINO_INGEST_FLUSH',
      step: 'begin',
      id,
      answerBy: Date.now() + timeoutMs - ANSWER_MS,
    }
    stream.on(FLUSHED_EVENT, onFlushed)
    try {
      stream.emit('message', request)
      if (notifiesWorker(stream)) stream.flush()
      else stream.flush(() => void stream.emit('message', { ...request, step: 'read' }))
    } catch {
      finish({ state: 'timeout' }) // the worker has ended
    }
  })
}

/**
 * thread-stream 4 sends a flush to the worker and keeps the process alive until its callback, in an outage possibly
 * forever; so no callback is passed. Version 3, used by pino 9, calls back when the worker has read everything.
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
