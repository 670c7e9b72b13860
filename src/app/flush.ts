/** [main] Waits until what was logged is safe, wherever the transport runs. */
import { randomUUID } from 'node:crypto'
import { FLUSHED_EVENT, FLUSH_METHOD, mergeFlushResults } from '../flush-message.js'
import type { FlushReply, FlushRequest, FlushResult, Flushable } from '../flush-message.js'

export interface FlushOptions {
  /** Milliseconds. Default 5000. */
  readonly timeoutMs?: number
}

/** pino's stream to its worker, as far as it is used here. */
interface WorkerStream {
  emit(event: 'message', message: FlushRequest): boolean
  on(event: typeof FLUSHED_EVENT, listener: (reply: FlushReply) => void): void
  off(event: typeof FLUSHED_EVENT, listener: (reply: FlushReply) => void): void
  flush(callback?: () => void): void
}

const DEFAULT_TIMEOUT_MS = 5_000
/** For the worker's answer to come back in time. */
const ANSWER_MS = 100

/**
 * Resolves when everything logged before is acknowledged by the service, or is on disk while the service is down, or
 * when the time is over. Works with one target, several, a pipeline and `ingestStream()`.
 *
 * @param logger a pino logger, or one of its children
 * @returns the state and the account; without this package's transport behind the logger `timeout`, at once. Never rejects.
 */
export async function flush(logger: object, { timeoutMs = DEFAULT_TIMEOUT_MS }: FlushOptions = {}): Promise<FlushResult> {
  const streams = streamsOf(logger)
  if (streams.length === 0) return { state: 'timeout' }
  return mergeFlushResults(await Promise.all(streams.map((stream) => flushStream(stream, Math.max(timeoutMs, 0)))))
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
    const onFlushed = ({ id: answered, ...result }: FlushReply): void => {
      if (answered === id) finish(result)
    }
    const timer = setTimeout(() => finish({ state: 'timeout' }), timeoutMs)
    const request: FlushRequest = { code: 'PINO_INGEST_FLUSH', step: 'begin', id, answerBy: Date.now() + timeoutMs - ANSWER_MS }
    stream.on(FLUSHED_EVENT, onFlushed)
    try {
      stream.emit('message', request)
      if (tellsWorker(stream)) stream.flush()
      else stream.flush(() => void stream.emit('message', { ...request, step: 'read' }))
    } catch {
      finish({ state: 'timeout' }) // the worker has ended: nothing can be asked any more
    }
  })
}

/**
 * thread-stream 4 tells the worker of a flush, and holds the process until its callback: in an outage that may be for
 * ever, so that it gets none. Version 3, which pino 9 brings, tells only us, once the worker has read all.
 */
function tellsWorker(stream: object): boolean {
  const symbol = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'kImpl')
  const inside = symbol === undefined ? undefined : (stream as Record<symbol, { flushCallbacks?: unknown } | undefined>)[symbol]
  return inside?.flushCallbacks instanceof Map
}

/** Behind the logger: pino's own, one that the app made, or several in a multistream. */
function streamsOf(logger: object): (Flushable | WorkerStream)[] {
  const stream = streamOf(logger)
  const several = typeof stream === 'object' && stream !== null && 'streams' in stream && Array.isArray(stream.streams)
    ? (stream.streams as unknown[]).map((one) => (one as { stream?: unknown } | null)?.stream) : [stream]
  return several.filter(isFlushableStream)
}

/** pino keeps it under a symbol of its own; a child has it from its parent. pino itself is not loaded for its name. */
function streamOf(logger: object): unknown {
  for (let at: object | null = logger; at !== null; at = Object.getPrototypeOf(at) as object | null) {
    const symbol = Object.getOwnPropertySymbols(at).find(({ description }) => description === 'pino.stream')
    if (symbol !== undefined) return (at as Record<symbol, unknown>)[symbol]
  }
  return undefined
}

function isFlushableStream(stream: unknown): stream is Flushable | WorkerStream {
  if (typeof stream !== 'object' || stream === null) return false
  return FLUSH_METHOD in stream || ('worker' in stream && 'flush' in stream && 'emit' in stream)
}
